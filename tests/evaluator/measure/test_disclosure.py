"""Process transparency (6.1-6.5) and effort (7.1-7.3) on small sessions, each level reached, by hand."""

import datetime as dt
from typing import Any

import pandas as pd
import pytest

from evaluator.compare.lexicon import phrases
from evaluator.measure import disclosed_calls, disclosed_choices, disclosed_steps, effort
from evaluator.measure.case import Case
from evaluator.package.delivery import Delivery, Document, Message, Table
from records.calls import CallRecord
from records.capture import FileEntry
from records.prices import Price, Prices
from records.session import AgentEvent
from records.task import Conditions
from records.usage import Usage

AT = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
CONDITIONS = Conditions.model_validate({"t_cut": "2018-12-31", "start_hint": "2014-01-02", "channels": ["fmp-mcp"]})


def case(
    *texts: str,
    calls: tuple[CallRecord, ...] = (),
    turns: tuple[AgentEvent, ...] = (),
    user: str = "Hi.",
    spec: dict[str, str] | None = None,
    documents: tuple[Document, ...] = (),
) -> Case:
    messages = [Message("user", 0, user)]
    messages += [Message("agent", turn, text) for turn, text in enumerate(texts, start=1)]
    rows = [
        {"component": key.split("/")[0], "key": key.split("/")[1], "value": value}
        for key, value in (spec or {}).items()
    ]
    tables = (Table("specification.csv", "spec", pd.DataFrame(rows), 1),) if rows else ()
    return Case(Delivery(CONDITIONS, tuple(messages), tables, documents, calls=calls, turns=turns), phrases)


def call(target: str, *, route: Any = "fmp", status: int | None = 200, rows: int | None = 5, **more: Any) -> CallRecord:
    symbol = more.pop("symbol", "AAPL")
    return CallRecord(
        at=AT,
        session="s",
        route=route,
        tool="t",
        target=target,
        params={"symbol": symbol},
        status=status,
        rows=rows,
        **more,
    )


def turn(
    number: int, *, cut: bool = False, seconds: float = 10.0, files: dict[str, str] | None = None, usage: Any = None
) -> AgentEvent:
    entries = tuple(FileEntry(path=path, size=1, sha256=sha) for path, sha in (files or {}).items())
    end = AT + dt.timedelta(seconds=seconds)
    return AgentEvent(turn=number, started_at=AT, ended_at=end, text="", cut=cut, files=entries, usage=usage)


PRICES = "historical-price-eod/full"
STATEMENTS = "income-statement"


@pytest.mark.parametrize(("prices", "statements", "score"), [(19, 1, 4), (3, 1, 3), (2, 2, 2), (1, 3, 1), (1, 4, 0)])
def test_share_of_calls_whose_source_is_named(prices: int, statements: int, score: int) -> None:
    calls = (call(PRICES),) * prices + (call(STATEMENTS),) * statements
    judged = disclosed_calls.judge_calls(case("Prices came from Financial Modeling Prep.", calls=calls))

    assert judged.score == score
    assert f"{prices} of {prices + statements} answered data calls" in judged.reason


def test_vendor_alone_or_kind_alone_names_nothing_and_an_endpoint_names_itself() -> None:
    calls = (call(PRICES),)

    assert disclosed_calls.judge_calls(case("FMP was used.", calls=calls)).score == 0
    assert disclosed_calls.judge_calls(case("Prices were fetched.", calls=calls)).score == 0
    assert disclosed_calls.judge_calls(case(f"Fetched {PRICES}.", calls=calls)).score == 4


def test_web_request_is_named_by_its_host() -> None:
    calls = (
        call("stooq.example:443", route="web", rows=None),
        call("http://www.sec.example/x", route="web", rows=None),
    )

    assert disclosed_calls.judge_calls(case("Taken from stooq.example.", calls=calls)).score == 2


def test_no_answered_call_is_not_applicable_not_four() -> None:
    refused = call("host.example:443", route="web", status=None, refused="not allowed")

    for calls in ((), (refused,)):
        judged = disclosed_calls.judge_calls(case("Prices from FMP.", calls=calls))
        assert (judged.status, judged.score) == ("not_applicable", None)


@pytest.mark.parametrize(("good", "poor", "score"), [(1, 0, 4), (3, 1, 3), (1, 1, 2), (1, 3, 1), (0, 1, 0)])
def test_share_of_turns_that_say_what_was_done_and_what_is_next(good: int, poor: int, score: int) -> None:
    texts = ["I fetched the prices. Next I will run the backtest."] * good + ["Momentum is a strategy."] * poor

    assert disclosed_steps.judge_narration(case(*texts)).score == score


def test_only_done_or_only_next_is_no_narration() -> None:
    assert disclosed_steps.judge_narration(case("I ran the backtest.")).score == 0
    assert disclosed_steps.judge_narration(case("Next comes the backtest.")).score == 0


def test_session_without_a_message_has_nothing_to_narrate() -> None:
    assert disclosed_steps.judge_narration(case()).status == "not_applicable"


@pytest.mark.parametrize(("told", "untold", "score"), [(1, 0, 4), (3, 1, 3), (1, 1, 2), (1, 3, 1), (0, 1, 0)])
def test_share_of_failures_that_are_told(told: int, untold: int, score: int) -> None:
    names = [f"AA{n}" for n in range(told)]
    calls = [call(PRICES, status=500, symbol=name) for name in names]
    calls += [call(f"ratings-{n}", status=429, symbol=f"BB{n}") for n in range(untold)]
    text = f"No data for {', '.join(names)}." if names else "All went well."

    assert disclosed_calls.judge_failures(case(text, calls=tuple(calls))).score == score


def test_failure_made_good_by_another_call_did_not_matter() -> None:
    calls = (call(PRICES, status=429), call("historical-price-eod/dividend-adjusted"))

    assert disclosed_calls.judge_failures(case("Fine.", calls=calls)).status == "not_applicable"


@pytest.mark.parametrize(
    ("target", "status"), [("splits", "not_applicable"), ("dividends", "not_applicable"), (STATEMENTS, "scored")]
)
def test_empty_list_of_events_is_an_answer_and_empty_statements_are_not(target: str, status: str) -> None:
    assert disclosed_calls.judge_failures(case("Fine.", calls=(call(target, rows=0),))).status == status


def test_refused_request_is_told_by_its_host() -> None:
    calls = (call("stooq.example:443", route="web", status=None, rows=None, refused="not allowed"),)

    assert (
        disclosed_calls.judge_failures(case("stooq.example could not be reached: unavailable.", calls=calls)).score == 4
    )
    assert disclosed_calls.judge_failures(case("All went well.", calls=calls)).score == 0


SPEC = {
    "stock_selection/factors": "mom_12_1",
    "portfolio_construction/weighting": "equal",
    "portfolio_construction/n_holdings": "10",
    "portfolio_construction/rebalance": "monthly",
    "general/capital": "1000000",
    "transaction_cost/rate_bps": "10",
}
USER = "I want 12-month momentum that skips the last month, equal weight in each name, and a cost of 10 bps per trade."
ROWS = {"n_holdings": "| holdings | 10 |", "rebalance": "| rebalance | monthly |", "capital": "| capital | 1000000 |"}


@pytest.mark.parametrize(("marked", "score"), [(3, 4), (2, 2), (1, 1), (0, 0)])
def test_share_of_own_choices_marked_as_assumptions(marked: int, score: int) -> None:
    """The user stated factor, weighting and cost; the number of names, the calendar and the capital are the agent's."""
    lines = [f"{row} my assumption |" for row in list(ROWS.values())[:marked]]
    judged = disclosed_choices.judge(case("Here it is.\n" + "\n".join(lines), user=USER, spec=SPEC))

    assert judged.score == score
    assert f"{marked} of 3 choices of the agent" in judged.reason


def test_list_under_a_heading_of_assumptions_is_marked() -> None:
    text = "My assumptions:\n- 10 holdings\n- monthly rebalance\n- capital 1000000\n\nThe rest is yours."

    assert disclosed_choices.judge(case(text, user=USER, spec=SPEC)).score == 4


def test_negated_option_is_not_stated_by_the_user() -> None:
    user = "Do not use equal weight. " + USER.replace("equal weight in each name, and ", "")
    judged = disclosed_choices.judge(case("Nothing marked.", user=user, spec=SPEC))

    assert "0 of 4 choices" in judged.reason


def test_everything_stated_then_nothing_to_mark() -> None:
    user = USER + " Hold 10 names, rebalance monthly, start with $1m."

    assert disclosed_choices.judge(case("Done.", user=user, spec=SPEC)).status == "not_applicable"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("I updated the trades, the equity, the metrics and the report.", 4),
        ("I updated trades.csv, equity.csv and the report.", 3),
        ("I fixed the trades and the report.", 2),
        ("I corrected the report.", 1),
        ("Here are the trades, equity, metrics and report.", 0),
        ("I made every table anew.", 4),
    ],
)
def test_share_of_changed_files_that_are_named(text: str, score: int) -> None:
    names = ("trades.csv", "equity.csv", "metrics.csv", "report.md")
    first, second = (
        turn(1, files=dict.fromkeys(names, "a")),
        turn(2, files=dict.fromkeys(names, "b") | {"new.csv": "c"}),
    )

    assert disclosed_steps.judge_changes(case("First.", text, turns=(first, second))).score == score


def test_unchanged_and_new_files_need_no_word() -> None:
    turns = (turn(1, files={"a.csv": "x"}), turn(2, files={"a.csv": "x", "b.csv": "y"}))

    assert disclosed_steps.judge_changes(case("First.", "Second.", turns=turns)).status == "not_applicable"


def test_time_is_summed_over_turns_and_cut_ones_are_counted() -> None:
    made = case(turns=(turn(1, seconds=12.5), turn(2, seconds=300.0, cut=True)))

    assert effort.time_facts(made) == {"time_s": 312.5, "turns_cut": 1, "agent_turns": 2}
    judged = effort.judge_time(made)
    assert (judged.source, judged.status, judged.score) == ("measured", "not_applicable", None)
    assert "312.5 s in 2 turns, 1 cut" in judged.reason


def test_tokens_of_an_agent_that_reports_none_stay_unknown() -> None:
    assert effort.token_facts(case(turns=(turn(1),)))["tokens_input"] is None
    assert "reports no tokens" in effort.judge_tokens(case(turns=(turn(1),))).reason


def test_tokens_without_a_known_price_have_no_cost() -> None:
    usage = (Usage(model="model-x", input=100, cache_read=50, cache_write=20, output=30),)
    facts = effort.token_facts(case(turns=(turn(1, usage=usage), turn(2))))

    assert (facts["tokens_input"], facts["tokens_cached"], facts["tokens_output"]) == (120, 50, 30)
    assert facts["usd"] is None
    assert facts["turns_without_tokens"] == 1
    assert "no price known for model-x" in effort.judge_tokens(case(turns=(turn(1, usage=usage),))).reason


def test_cost_follows_the_dated_table(monkeypatch: pytest.MonkeyPatch) -> None:
    price = Price(input=2.0, cache_read=0.5, cache_write=4.0, output=10.0, source="made up for this test")
    table = Prices(date=dt.date(2026, 1, 1), models={"model-x": price})
    monkeypatch.setattr(effort, "load_prices", lambda: table)
    usage = (Usage(model="model-x", input=1_000_000, cache_read=2_000_000, cache_write=500_000, output=100_000),)
    facts = effort.token_facts(case(turns=(turn(1, usage=usage),)))

    # 1 x 2 + 2 x 0.5 + 0.5 x 4 + 0.1 x 10
    assert facts["usd"] == pytest.approx(6.0)
    assert facts["price_table_date"] == "2026-01-01"


def test_actions_are_counted_by_kind() -> None:
    refused = call("host.example:443", route="web", status=None, refused="no")
    calls = (call(PRICES), call(PRICES), refused, call("v1/messages", route="model"))
    facts = effort.action_facts(case(calls=calls, turns=(turn(1),)))

    assert facts == {"agent_turns": 1, "calls_fmp": 2, "calls_web": 1, "calls_refused": 1}
