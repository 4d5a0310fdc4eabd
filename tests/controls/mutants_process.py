"""Process mutants: one changed line of the delivered program, or one changed input, and everything regenerated."""

import pandas as pd

from tests.controls.again import patched, rerun, respecified
from tests.controls.attempts import Attempt
from tests.controls.control import process

FACTOR_INPUT = '    adj = prices_wide["adj_close"]\n    days = adj.index'
MOMENTUM = "        return window[:, -22] / window[:, 0] - 1.0"
FEE = "        fee = self.rate * abs(amount * price)"
SPEC = "specification.csv"
"""Its definitions are text that no program writes again."""
CASH = "        book.cash -= amount * price + fee"
PRICE = "        price = float(self.fill_price[at, self.column[order.symbol]])"
MEASURED = '        "max_drawdown": float((values / np.maximum.accumulate(values) - 1.0).min()),'


# ------------------------------------------------------------------------------------------- what came too early


@process("vectorbt-same-close", "vectorbt", "vectorbt#190 #722 (flaw 1)")
def _(it: Attempt) -> None:
    patched(it, "LAG = 1\n", "LAG = 0\n")


@process("bt-same-close", "bt", "bt#8 #149 (flaw 3)")
def _(it: Attempt) -> None:
    patched(it, "LAG = 1\n", "LAG = 0\n")


@process("relabelled-close", "drawdown", "backtrader#11 (flaw 2): dated t+1, priced at the close of t")
def _(it: Attempt) -> None:
    patched(
        it,
        'self.fill_price = (panel.wide["open"] if at_open else panel.wide["close"]).to_numpy()',
        'self.fill_price = (panel.wide["open"] if at_open else panel.wide["close"].shift(1)).to_numpy()',
    )


@process("signal-knows-next-week", "bt", "go-trader#730 #305, Nunchi#4 (flaw 4)")
def _(it: Attempt) -> None:
    patched(it, "return -(close / close.shift(21) - 1.0)", "return -(close.shift(-5) / close.shift(16) - 1.0)")


@process("reversal-knows-next-week", "target", "go-trader#730 (flaw 4) in the reference's program")
def _(it: Attempt) -> None:
    patched(it, FACTOR_INPUT, FACTOR_INPUT.replace('"]\n', '"].shift(-5)\n'))


@process("feature-shifted-back", "backtrader", "finta#25, freqtrade#1839 (flaw 7): .shift(-5) in a feature")
def _(it: Attempt) -> None:
    patched(it, "rolling(21).max()\n", "rolling(21).max().shift(-5)\n")


@process("momentum-one-day-ahead", "volume", "freqtrade#9240: a shift inside the factor's skip reads no later price")
def _(it: Attempt) -> None:
    patched(it, MOMENTUM, "        return window[:, -21] / window[:, 0] - 1.0")


@process("statements-at-period-end", "drawdown", "stocks-winner#29, aurum#47, CrossSection#80 (flaw 11)")
def _(it: Attempt) -> None:
    patched(
        it,
        '    announced = own["announced"].to_numpy(dtype="datetime64[ns]")',
        '    announced = own["period_end"].to_numpy(dtype="datetime64[ns]")',
    )


@process("surprise-at-period-end", "stop", "stocks-winner#29 (flaw 11) on a surprise factor")
def _(it: Attempt) -> None:
    patched(
        it,
        '    announced = own["announced"].to_numpy(dtype="datetime64[ns]")',
        '    announced = own["period_end"].to_numpy(dtype="datetime64[ns]")',
    )


@process("announced-two-days-after-period", "drawdown", "aurum#47: period ends under another name")
def _(it: Attempt) -> None:
    def earlier(table: pd.DataFrame) -> None:
        table["announced"] = (pd.to_datetime(table["period_end"]) + pd.Timedelta(days=2)).dt.strftime("%Y-%m-%d")

    it.edit("fundamentals", earlier)
    rerun(it)


@process("growth-announced-at-once", "momentum", "aurum#47: announced one day after the period's end")
def _(it: Attempt) -> None:
    def earlier(table: pd.DataFrame) -> None:
        table["announced"] = (pd.to_datetime(table["period_end"]) + pd.Timedelta(days=1)).dt.strftime("%Y-%m-%d")

    it.edit("fundamentals", earlier)
    rerun(it)


@process("snapshot-of-today", "staged", "optimizer#245, TradingAgents#1300 (flaw 10)")
def _(it: Attempt) -> None:
    def frozen(table: pd.DataFrame) -> None:
        numbers = [name for name in table.columns if name not in ("symbol", "period_end", "announced")]
        table[numbers] = table.groupby("symbol")[numbers].transform("last")

    it.edit("fundamentals", frozen)
    rerun(it)
    it.edit("fundamentals", lambda table: table.drop(columns="announced"))


@process("chosen-by-tomorrow", "bt", "Lean#2996 (flaw 12): selection reads the next week's score")
def _(it: Attempt) -> None:
    patched(
        it,
        "ranked = score.loc[day].sort_index()",
        "ranked = score.shift(-5).loc[day].sort_index()",
    )


@process("ranked-on-later-scores", "vectorbt", "Lean#2996 (flaw 12) with another tool")
def _(it: Attempt) -> None:
    patched(
        it,
        "ranked = score.loc[day].sort_index()",
        "ranked = score.shift(-5).loc[day].fillna(0.0).sort_index()",
    )


# ------------------------------------------------------------------------------------------------- what was read


@process("prices-back-filled", "momentum", "FinRL#189, ta#109, backtesting.py#963 (flaw 5)")
def _(it: Attempt) -> None:
    def filled(table: pd.DataFrame) -> None:
        columns = ["open", "high", "low", "close", "adj_close"]
        for symbol in sorted(table["symbol"].unique())[:3]:
            rows = table.index[table["symbol"] == symbol]
            table.loc[rows[:420], columns] = float(table.loc[rows[420], "close"])

    it.edit("prices", filled)
    rerun(it)


@process("gaps-filled-with-the-future", "momentum", "gs-quant#362 (flaw 6): gaps filled with the last value")
def _(it: Attempt) -> None:
    def filled(table: pd.DataFrame) -> None:
        columns = ["open", "high", "low", "close", "adj_close"]
        for number, symbol in enumerate(sorted(table["symbol"].unique())):
            rows = table.index[table["symbol"] == symbol]
            # Before the first decision: a book through them would be so wild that its figures read as percent. At most three
            # of twenty names jump on one day: a move that a fifth of the names share is no outlier.
            gaps = rows[40 + 2 * (number % 7) : 435 : 14]
            table.loc[gaps, columns] = float(table.loc[rows[-1], "close"]) * 2.5

    it.edit("prices", filled)
    rerun(it)


@process("z-scores-of-the-whole-sample", "backtrader", "backtesting.py#277, ta#164 (flaw 8)")
def _(it: Attempt) -> None:
    patched(
        it,
        "out.append(clipped.sub(clipped.mean(axis=1), axis=0).div(clipped.std(axis=1, ddof=1), axis=0))",
        "out.append((clipped - clipped.stack().mean()) / clipped.stack().std(ddof=1))",
    )


@process("price-filter-on-adjusted", "momentum", "CrossSection#95, prophet#14 (flaw 13)")
def _(it: Attempt) -> None:
    patched(
        it,
        "        chosen = [name for name in chosen if np.isfinite(self.close[at, self.column[name]])]",
        "        chosen = [name for name in chosen if self.panel.adj[at, self.column[name]] > 60.0]",
    )


@process("delisted-never-closed", "stop", "bt#63, Lean#4397 (flaw 17)")
def _(it: Attempt) -> None:
    ended(it)
    patched(it, "        self._close_delisted(at)\n", "        pass\n")


def ended(it: Attempt) -> None:
    """Let one held name's prices end while it is held; nothing is run again."""
    weights = it.typed("target_weights")
    held = weights[(weights["date"] > "2018-06-01") & (weights["symbol"] != "CASH") & (weights["weight"] > 0.12)]
    day, symbol = held.iloc[0][["date", "symbol"]]
    last = str((pd.Timestamp(day) + pd.Timedelta(days=9)).date())
    it.edit("prices", lambda table: table[(table["symbol"] != symbol) | (table["date"] <= last)])


# ---------------------------------------------------------------------------------------------- strategy misread


@process("momentum-reversed", "volume", "sign of the factor turned round")
def _(it: Attempt) -> None:
    patched(it, MOMENTUM, "        return 1.0 - window[:, -22] / window[:, 0]")


@process("half-year-momentum", "volume", "6-1 for 12-1 momentum, told so in the specification")
def _(it: Attempt) -> None:
    it.replace(
        SPEC,
        "12-1 month momentum: P[t-21]/P[t-252]-1, the twelve-month return leaving",
        "6-1 month momentum: P[t-21]/P[t-126]-1, the six-month return leaving",
    )
    respecified(it, "stock_selection", "factors", "mom_6_1")


@process("yield-for-profitability", "staged", "another factor than the one asked for, told so")
def _(it: Attempt) -> None:
    it.replace(
        SPEC,
        "return on equity: net income of the four latest announced quarters / mean common equity of the latest and the year-ago quarter; equity at or below zero left out",
        "earnings yield: net income of the four latest announced quarters / market cap (close x shares)",
    )
    respecified(it, "stock_selection", "factors", "earnings_yield")


@process("no-filter", "momentum", "always invested where a VIX filter was asked for, told so")
def _(it: Attempt) -> None:
    it.replace(
        SPEC,
        "VIX filter: hold the book if the VIX close is below the threshold, else cash",
        "always invested: no market filter",
    )
    respecified(it, "market_timing", "rule", "always_invested")


@process("gate-ignored", "drawdown", "the filter is claimed and not obeyed")
def _(it: Attempt) -> None:
    patched(it, "        hold = bool(self.plan.gate[day])", "        hold = True")


@process("vectorbt-gate-ignored", "vectorbt", "the filter is claimed and not obeyed")
def _(it: Attempt) -> None:
    patched(
        it,
        "    weight = weights_of(chosen, score.loc[day]) * (INVESTED if gate.loc[day] else 0.0)",
        "    weight = weights_of(chosen, score.loc[day])",
    )


@process("backtrader-gate-ignored", "backtrader", "the filter is claimed and not obeyed")
def _(it: Attempt) -> None:
    patched(
        it,
        "    weight = weights_of(chosen, score.loc[day]) * (INVESTED if gate.loc[day] else 0.0)",
        "    weight = weights_of(chosen, score.loc[day]) * INVESTED",
    )


@process("equal-weights", "momentum", "equal weights where score weights were asked for, told so")
def _(it: Attempt) -> None:
    it.replace(
        SPEC,
        "score weight: proportional to score - lowest score + 1 % of the range; equal if all scores agree",
        "equal weight: 1/N",
    )
    respecified(it, "portfolio_construction", "weighting", "equal")


@process("vectorbt-equal-weights", "vectorbt", "score weights are claimed, equal ones held")
def _(it: Attempt) -> None:
    patched(it, '    if SET["weighting"] == "equal":', "    if True:")


@process("bt-weights-upside-down", "bt", "the worst rank gets most")
def _(it: Attempt) -> None:
    patched(it, "part = np.arange(len(names), 0, -1.0)", "part = np.arange(1.0, len(names) + 1)")


@process("no-stop", "stop", "no stop where one was asked for, told so")
def _(it: Attempt) -> None:
    it.replace(
        SPEC,
        "stop-loss on each position: when a close is at or below the entry price by the threshold, that position is sold in the "
        "next execution window and not bought back before the next decision; entry is the average fill price",
        "no risk overlay",
    )
    respecified(it, "risk_control", "rule", "none")


@process("stop-ignored", "stop", "the stop is claimed and never sells")
def _(it: Attempt) -> None:
    patched(
        it, '                if pending is None or pending.reason != "stop":', "                if pending is not None:"
    )


@process("drawdown-stop-ignored", "drawdown", "the stop is claimed and never sells")
def _(it: Attempt) -> None:
    patched(it, "            if fall <= -threshold + 1e-12:", "            if fall <= -9.0:")


@process("stop-at-30", "stop", "30 % where 20 % was said")
def _(it: Attempt) -> None:
    respecified(it, "risk_control", "threshold", "30")


@process("target-at-20", "target", "a volatility target of 20 % where 12 % was said")
def _(it: Attempt) -> None:
    respecified(it, "risk_control", "target", "20")


@process("next-open-for-next-close", "stop", "fills at the open, the close is claimed")
def _(it: Attempt) -> None:
    patched(
        it,
        '        at_open = spec.execution in ("next_open", "staged")',
        '        at_open = spec.execution in ("next_open", "staged", "next_close")',
    )


@process("not-staged", "staged", "one fill at the next open where three parts were asked for, told so")
def _(it: Attempt) -> None:
    it.replace(
        SPEC,
        "staged orders: spread over several days, equal whole parts at the opens of t+1 and after, the rest in the last",
        "next-day open: orders decided at the close of t fill at the open of t+1",
    )
    respecified(it, "execution", "rule", "next_open")


@process("fills-two-days-later", "drawdown", "zipline#1844 #1934 (flaw 31)")
def _(it: Attempt) -> None:
    patched(
        it,
        "        if not np.isfinite(self.fill_price[at, column]):\n            return 0\n        if order.parts",
        "        if order.age < 2 or not np.isfinite(self.fill_price[at, column]):\n            return 0\n        if order.parts",
    )


@process("bt-two-days-later", "bt", "zipline#1844 #1934 (flaw 31) with bt")
def _(it: Attempt) -> None:
    patched(it, "LAG = 1\n", "LAG = 2\n")


@process("stop-filled-at-the-stop", "stop", "TorchTrade#280 #311, finalayze#170, quantstrat#14 (flaw 19)")
def _(it: Attempt) -> None:
    patched(
        it,
        PRICE,
        "        stop = self.book.entry.get(order.symbol, 0.0) * 0.8\n"
        + PRICE
        + ' if order.reason != "stop" else stop',
    )


@process("one-price-for-all-fills", "momentum", "lumibot#991 (flaw 18)")
def _(it: Attempt) -> None:
    names = it.typed("trades")["symbol"].value_counts().index
    patched(it, PRICE, PRICE.replace("price = float(", f'price = 30.0 if order.symbol == "{names[0]}" else float('))


@process("limit-up-not-bought", "momentum", "QuantaAlpha#31 (flaw 20): noted, no fail by itself")
def _(it: Attempt) -> None:
    patched(
        it,
        "            elif amount > 0:\n",
        "            elif amount > 0 and self.fill_price[at, self.column[name]] < 1.095 * self.close[at - 1, self.column[name]]:\n",
    )


# ----------------------------------------------------------------------------------------------------------- cost


@process("cost-of-ten", "stop", "10 bps where 5 were said, told so")
def _(it: Attempt) -> None:
    respecified(it, "transaction_cost", "rate_bps", "10")


@process("fees-only-in-the-log", "stop", "bt#83 (flaw 28)")
def _(it: Attempt) -> None:
    patched(it, CASH, "        book.cash -= amount * price")


@process("momentum-fees-only-in-the-log", "momentum", "bt#83 (flaw 28) at 10 bps")
def _(it: Attempt) -> None:
    patched(it, CASH, "        book.cash -= amount * price")


@process("first-buy-free", "stop", "openalgo#1716, archimedes#936 (flaw 27)")
def _(it: Attempt) -> None:
    patched(it, FEE, FEE + " * (at > self.plan.decisions[0] + 1)")


@process("round-trip-rate-both-ways", "momentum", "universal-portfolios#101 (flaw 27)")
def _(it: Attempt) -> None:
    patched(it, FEE, FEE.replace("self.rate", "2 * self.rate"))


@process("bt-half-the-rate", "bt", "half the stated rate charged")
def _(it: Attempt) -> None:
    patched(it, 'RATE = SET["rate_bps"] / 10_000.0', 'RATE = SET["rate_bps"] / 20_000.0')


# --------------------------------------------------------------------------------------------- equity and metrics


@process("drawdown-without-its-start", "stop", "quantstats#438, pyfolio#179, freqtrade#11593 (flaw 21)")
def _(it: Attempt) -> None:
    patched(
        it,
        MEASURED,
        MEASURED.replace(
            "values / np.maximum.accumulate(values)", "values[-504:] / np.maximum.accumulate(values[-504:])"
        ),
    )


@process("cagr-of-calendar-days", "momentum", "quantstats#317 #458 (flaw 23): days/252")
def _(it: Attempt) -> None:
    patched(it, "(values[-1] / values[0]) ** (365.25 / days) - 1.0", "(values[-1] / values[0]) ** (252 / days) - 1.0")


@process("sharpe-not-annualised", "stop", "zipline#202, gekko#2064 (flaw 24)")
def _(it: Attempt) -> None:
    patched(it, '"sharpe": float(daily.mean()) / spread * math.sqrt(DAYS)', '"sharpe": float(daily.mean()) / spread')


@process("vectorbt-sharpe-not-annualised", "vectorbt", "zipline#202 (flaw 24) with another tool")
def _(it: Attempt) -> None:
    patched(it, '"sharpe": daily.mean() / daily.std() * math.sqrt(252)', '"sharpe": daily.mean() / daily.std()')


@process("first-return-is-one", "volume", "EigenLedger#71 #65 (flaw 25)")
def _(it: Attempt) -> None:
    patched(
        it,
        "            self.equity.append((at, value, self.book.cash))",
        "            self.equity.append((at, value * (2.0 if self.equity else 1.0), self.book.cash))",
    )


@process("no-drift", "vectorbt", "quantstats#484 (flaw 26)")
def _(it: Attempt) -> None:
    patched(
        it,
        "equity = book.value()\n",
        "equity = CAPITAL * (1 + (size.ffill().fillna(0).shift(1) * close.loc[live].pct_change()).sum(axis=1)).cumprod()\n",
    )


@process("trades-count-days", "momentum", "CoursIA#13075 (flaw 29)")
def _(it: Attempt) -> None:
    patched(
        it,
        'out["trades"] = float(len(trades))',
        'out["trades"] = float((equity["cash"] < 0.5 * equity["equity"]).sum())',
    )


@process("returns-summed", "bt", "sum of returns in place of compounding")
def _(it: Attempt) -> None:
    patched(it, "    total = equity.iloc[-1] / equity.iloc[0] - 1\n", "    total = daily.sum()\n")


@process("dividends-forgotten", "volume", "cash dividends never credited, claimed as credited")
def _(it: Attempt) -> None:
    patched(it, "            self.book.cash += count * self.dividends[at, self.column[name]]", "            continue")


@process("window-of-60", "volume", "a covariance over 60 sessions, 252 claimed")
def _(it: Attempt) -> None:
    patched(
        it,
        "        window = pd.DataFrame(_returns(panel, at, _cov_window(spec), names), columns=list(names))",
        "        window = pd.DataFrame(_returns(panel, at, 60, names), columns=list(names))",
    )


@process("two-names-too-many", "staged", "two names more are held than claimed")
def _(it: Attempt) -> None:
    patched(it, "[: spec.n_holdings]\n", "[: spec.n_holdings + 2]\n")


@process("leverage", "target", "the book is scaled up to the target too")
def _(it: Attempt) -> None:
    patched(
        it,
        'return min(1.0, self.spec.risk_params["target"] / 100.0 / vol) if vol > 0 else 1.0',
        'return self.spec.risk_params["target"] / 100.0 / vol if vol > 0 else 1.0',
    )


@process("sessions-dropped", "momentum", "equity written every second session")
def _(it: Attempt) -> None:
    patched(
        it,
        '    equity = pd.DataFrame(walk.equity, columns=["date", "equity", "cash"])',
        '    equity = pd.DataFrame(walk.equity[::2], columns=["date", "equity", "cash"])',
    )
