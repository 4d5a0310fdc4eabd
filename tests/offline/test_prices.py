"""The bars agree with the packaged series they are made from, and with each other."""

import warnings
from pathlib import Path

import exchange_calendars
import numpy as np
import pandas as pd
import pytest

from offline.data import bars, dividends
from offline.data.facts import generator, load_facts
from offline.data.prices import REAL_BAR_SYMBOLS
from offline.data.standins import FROZEN_TODAY

SYMBOLS = sorted(load_facts())
MODELLED = sorted(set(SYMBOLS) - set(REAL_BAR_SYMBOLS))


def of(prices: pd.DataFrame, symbol: str) -> pd.DataFrame:
    return prices[prices["symbol"] == symbol].set_index("date")


@pytest.fixture(scope="session")
def sessions() -> pd.DatetimeIndex:
    with warnings.catch_warnings(action="ignore", category=pd.errors.Pandas4Warning):  # theirs, not ours
        calendar = exchange_calendars.get_calendar("XNYS", start="1990-01-02", end=FROZEN_TODAY)
    return pd.DatetimeIndex(calendar.sessions)


@pytest.fixture(scope="session")
def paid(tables: Path) -> pd.DataFrame:
    table = pd.read_parquet(tables / "dividends.parquet")
    table["date"] = pd.to_datetime(table["date"])
    return table


def test_every_symbol_has_exactly_the_exchange_sessions(prices: pd.DataFrame, sessions: pd.DatetimeIndex) -> None:
    for symbol, rows in prices.groupby("symbol"):
        start = "2013-01-02" if symbol in {"AMZN", "GOOG", "META", "NFLX", "NVDA"} else "1990-01-02"
        expected = sessions[sessions >= start]
        assert list(rows["date"]) == list(expected), symbol


def test_universe_is_25_stocks_the_index_and_the_volatility_index(prices: pd.DataFrame) -> None:
    assert sorted(prices["symbol"].unique()) == sorted([*SYMBOLS, "^GSPC", "^VIX"])
    assert len(SYMBOLS) == 25


def test_adjusted_closes_of_skfolio_names_are_the_packaged_ones(prices: pd.DataFrame, sources: dict[str, Path]) -> None:
    packaged = pd.read_csv(sources["stocks_adjusted"], index_col=0, parse_dates=True)
    for symbol in MODELLED:
        np.testing.assert_array_equal(of(prices, symbol)["adj_close"], packaged[symbol])


def test_early_apple_returns_are_the_packaged_ones(prices: pd.DataFrame, sources: dict[str, Path]) -> None:
    packaged = pd.read_csv(sources["stocks_adjusted"], index_col=0, parse_dates=True)["AAPL"].pct_change()
    ours = of(prices, "AAPL")["adj_close"].pct_change()
    early = ours.index <= "2013-01-02"
    np.testing.assert_allclose(ours[early].dropna(), packaged[early].dropna(), rtol=0, atol=1e-9)


def test_real_bars_are_the_packaged_ones_up_to_their_single_precision(
    prices: pd.DataFrame, sources: dict[str, Path]
) -> None:
    packaged = pd.read_csv(sources["stocks_ohlcv"], parse_dates=["date"])
    packaged = packaged[packaged["date"] <= FROZEN_TODAY]
    for symbol in REAL_BAR_SYMBOLS:
        theirs = packaged[packaged["symbol"] == symbol].set_index("date")
        ours = of(prices, symbol).loc["2013-01-02":]
        assert not ours["modelled"].any()
        for column in ("open", "high", "low", "close"):
            np.testing.assert_allclose(ours[column], theirs[column], rtol=6e-7)
        np.testing.assert_array_equal(ours["volume"], theirs["volume"])
        returns = ours["adj_close"].pct_change().dropna()
        np.testing.assert_allclose(returns, theirs["adjusted"].pct_change().dropna(), rtol=0, atol=1e-6)


def test_adjustment_factor_jumps_by_exactly_the_dividend_and_nowhere_else(
    prices: pd.DataFrame, paid: pd.DataFrame
) -> None:
    for symbol in SYMBOLS:
        rows = of(prices, symbol)
        factor = (rows["adj_close"] / rows["close"]).to_numpy()
        jumps = pd.Series(factor[:-1] / factor[1:], index=rows.index[1:])
        dividend = paid[paid["symbol"] == symbol].set_index("date")["dividend"]
        expected = 1 - dividend.reindex(jumps.index).fillna(0) / rows["close"].shift(1).iloc[1:]
        np.testing.assert_allclose(jumps, expected, rtol=0, atol=1e-9)
        assert factor[-1] == pytest.approx(1, abs=1e-12)


def test_bars_contain_their_open_and_close_and_are_positive(prices: pd.DataFrame) -> None:
    assert (prices["low"] <= prices[["open", "close"]].min(axis=1)).all()
    assert (prices["high"] >= prices[["open", "close"]].max(axis=1)).all()
    assert (prices["low"] > 0).all()
    assert (prices.loc[prices["symbol"] != "^VIX", "volume"] > 0).all()


def test_payers_pay_plausible_yields_and_non_payers_nothing(prices: pd.DataFrame, paid: pd.DataFrame) -> None:
    for symbol, facts in load_facts().items():
        recent = paid[(paid["symbol"] == symbol) & (paid["date"] >= "2022-01-01")]
        trailing = recent["dividend"].sum() / of(prices, symbol)["close"].iloc[-1]
        if facts.dividend_yield == 0:
            assert paid[paid["symbol"] == symbol].empty
        else:
            assert len(recent) == 4
            assert 0.3 * facts.dividend_yield < trailing < 2.5 * facts.dividend_yield, symbol


def test_modelled_gaps_and_ranges_look_like_a_stock(prices: pd.DataFrame) -> None:
    """The real bars are the yardstick: overnight share of variance and range against close-to-close volatility."""

    def shape(symbol: str) -> tuple[float, float]:
        rows = of(prices, symbol).loc["2014":]
        total = np.log(rows["close"]).diff().dropna()
        gap = np.log(rows["open"] / rows["close"].shift(1)).dropna()
        spread = np.log(rows["high"] / rows["low"])
        return float(gap.std() / total.std()), float(spread.mean() / total.std())

    real = np.array([shape(symbol) for symbol in REAL_BAR_SYMBOLS])
    made = np.array([shape(symbol) for symbol in MODELLED])
    assert abs(np.median(made[:, 0]) - np.median(real[:, 0])) < 0.2
    assert abs(np.median(made[:, 1]) - np.median(real[:, 1])) < 0.35


def test_index_rows_are_real_where_a_package_has_them(prices: pd.DataFrame, sources: dict[str, Path]) -> None:
    rows = of(prices, "^GSPC")
    real = rows[~rows["modelled"]]
    assert (real.index[0], real.index[-1]) == (pd.Timestamp("1999-01-04"), pd.Timestamp("2018-12-31"))
    packaged = pd.read_csv(sources["index_ohlcv"])
    np.testing.assert_allclose(real["high"], packaged["High"], rtol=1e-11)
    closes = pd.read_csv(sources["index_close"])["SP500"]
    np.testing.assert_allclose(rows["close"], closes, rtol=1e-5)
    assert (rows["adj_close"] == rows["close"]).all()


def test_volatility_index_is_real_in_its_window_and_gates_trigger_outside(
    prices: pd.DataFrame, sources: dict[str, Path]
) -> None:
    rows = of(prices, "^VIX")
    real = rows[~rows["modelled_light"]]
    packaged = pd.to_numeric(pd.read_csv(sources["vix"])["vix"], errors="coerce").dropna()
    np.testing.assert_array_equal(real["close"], packaged)
    assert rows["modelled"].all()
    assert rows.loc["2020-03", "close"].max() > 50
    assert rows.loc["2008-10", "close"].mean() > 35
    share = {level: float((rows.loc["2013":, "close"] >= level).mean()) for level in (25, 30, 35)}
    assert 0.03 < share[25] < 0.3
    assert 0.01 < share[35] < share[30] < share[25]
    before, after = rows.loc[:"2014-01-02", "close"].iloc[-1], real["close"].iloc[0]
    assert abs(before / after - 1) < 0.5


def test_modelled_numbers_depend_on_symbol_and_purpose_only() -> None:
    close = np.linspace(20, 40, 500)
    first = bars.model("KO", close, level=1e6)
    bars.model("PEP", close, level=1e6)
    again = bars.model("KO", close, level=1e6)
    np.testing.assert_array_equal(first.open, again.open)
    np.testing.assert_array_equal(first.volume, again.volume)
    assert not np.array_equal(first.open, bars.model("PEP", close, level=1e6).open)
    assert generator("KO", "bars").random() != generator("KO", "volume").random()


def test_derived_dividends_ignore_storage_noise_and_find_the_real_ones() -> None:
    """Two dividends of 0.23 on a price of 100; the adjusted closes carry single-precision noise of 3e-8."""
    close = np.full(9, 100.0)
    factor = np.array([1 - 0.0046 + 0.0023**2] * 3 + [1 - 0.0023] * 3 + [1.0] * 3)
    noisy = close * factor * (1 + 3e-8 * np.array([1, -1, 1, -1, 1, -1, 1, -1, 1]))
    derived = dividends.derive(close, noisy)
    assert derived.dividends == {3: 0.23, 6: 0.23}
    np.testing.assert_allclose(derived.adjusted, close * factor, rtol=1e-9)
