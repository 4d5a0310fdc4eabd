"""When the user closes, asks for more, names a deviation or walks away."""

from collections.abc import Callable

import pytest

from records.session import EndReason
from simulator import end_reason

from .conftest import CLEAN_DELIVERY, REPORT, SIX_QUESTIONS, Talk

DONE = "The backtest is done; everything is delivered."


def _for(session: Talk) -> dict[str, str | bytes]:
    symbol = (session.task.scope.symbols or ("KO",))[0]
    return {path: body.replace("KO", symbol) for path, body in CLEAN_DELIVERY.items()}


@pytest.mark.parametrize("seed", range(10))
def test_agent_that_only_says_hello_loses_the_user_after_two_turns(seed: int, talk: Callable[[int], Talk]) -> None:
    session = talk(seed)
    first, second = session.say("Hello."), session.say("Hello.")

    assert end_reason(first.decision) is None
    assert end_reason(second.decision) is EndReason.USER_LEFT
    assert second.decision.block_reason == "walked_away"
    assert {"m2", "m4"} <= {source for seen in second.decision.observations for source in seen.evidence}


@pytest.mark.parametrize("text", ["", "   ", "Hi! How can I help you today?", "Understood, thank you."])
def test_empty_or_polite_turns_are_idle(text: str, talk: Callable[[int], Talk]) -> None:
    session = talk(4)
    session.say(text)

    assert end_reason(session.say(text).decision) is EndReason.USER_LEFT


def test_repeating_the_same_promise_is_idle_but_a_new_step_is_work(talk: Callable[[int], Talk]) -> None:
    session, busy = talk(4), talk(5)
    for text in ("I am running the backtest now.",) * 2:
        assert end_reason(session.say(text).decision) is None
    assert end_reason(session.say("I am running the backtest now.").decision) is EndReason.USER_LEFT
    for text in ("I am fetching prices now.", "I am building the signals now.", "I am running the backtest now."):
        assert end_reason(busy.say(text).decision) is None


def test_idle_turn_right_after_an_answer_does_not_end_the_session(talk: Callable[[int], Talk]) -> None:
    session = talk(2)
    session.say("Hello.")
    session.say("How should positions be weighted?")

    assert end_reason(session.say("Thank you.").decision) is None
    assert end_reason(session.say("Noted.").decision) is EndReason.USER_LEFT


def test_cut_turn_never_ends_the_session_unless_it_is_the_second_in_a_row(talk: Callable[[int], Talk]) -> None:
    session = talk(2)
    session.say("Hello.")
    first = session.say("", cut=True)
    second = session.say("", cut=True)

    assert end_reason(first.decision) is None
    assert end_reason(second.decision) is EndReason.USER_LEFT


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't help with that.",
        "I cannot provide financial advice.",
        "I am unable to complete this task and I'm giving up.",
        "I won't be able to continue. I have to stop here; I cannot run this backtest.",
    ],
)
def test_refusal_ends_as_given_up(text: str, talk: Callable[[int], Talk]) -> None:
    decision = talk(1).say(text).decision

    assert decision.block_reason == "agent_gave_up"
    assert end_reason(decision) is EndReason.AGENT_GAVE_UP


@pytest.mark.parametrize(
    "text",
    [
        "I can't find VIX data before 2014, so I use what there is and am running the backtest.",
        "I cannot continue until I know: how should positions be weighted?",
        "The service was unable to answer, retrying.",
    ],
)
def test_trouble_or_a_question_is_no_refusal(text: str, talk: Callable[[int], Talk]) -> None:
    assert end_reason(talk(1).say(text).decision) is None


def test_refusal_beside_a_delivery_is_judged_by_the_delivery(talk: Callable[[int], Talk]) -> None:
    session = talk(1)

    record = session.say("I cannot continue any further.", {"notes.txt": "prices.csv is missing\n"})

    assert end_reason(record.decision) is None


@pytest.mark.parametrize(
    ("without", "word"),
    [
        ("trades.csv", "trade"),
        ("prices.csv", "price"),
        ("report.md", "report"),
    ],
)
def test_delivery_without_a_piece_is_asked_for_it_and_not_closed(
    without: str, word: str, talk: Callable[[int], Talk]
) -> None:
    session = talk(1)
    session.say(SIX_QUESTIONS)
    files = {path: body for path, body in _for(session).items() if path != without}

    record = session.say(DONE, files)

    assert record.decision.action == "follow_up"
    assert word in record.decision.message.lower()
    assert session.say("Here it is.", {without: _for(session)[without]}).decision.action == "close"


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (REPORT.replace("## Limitations\nOne historical path.\n", ""), "limitations"),
        (REPORT.replace("the Sharpe ratio 0.55, ", ""), "the Sharpe ratio"),
        (REPORT.replace(", the number of trades 512", ""), "the number of trades"),
        (REPORT.replace("# Backtest report\n", "").replace("## ", ""), "summary"),
    ],
)
def test_report_lacking_a_section_or_number_is_named(report: str, words: str, talk: Callable[[int], Talk]) -> None:
    session = talk(7)
    session.say(SIX_QUESTIONS)

    record = session.say(DONE, {**_for(session), "report.md": report})

    assert record.decision.action == "follow_up"
    assert words in record.decision.message


def test_metrics_only_in_the_report_are_asked_for_in_a_file(talk: Callable[[int], Talk]) -> None:
    session = talk(7)
    session.say(SIX_QUESTIONS)
    files = {path: body for path, body in _for(session).items() if path not in ("metrics.csv", "equity.csv")}

    record = session.say(DONE, files)

    assert record.decision.action == "follow_up"
    assert "file" in record.decision.message


def test_parquet_log_counts_by_its_name_with_the_report(talk: Callable[[int], Talk]) -> None:
    session = talk(7)
    session.say(SIX_QUESTIONS)
    files = {path: body for path, body in _for(session).items() if path != "trades.csv"}

    assert session.say(DONE, {**files, "trades.parquet": b"PAR1\0\0"}).decision.action == "close"


def test_close_cites_files_that_exist_for_every_goal(talk: Callable[[int], Talk]) -> None:
    session = talk(0)
    session.say(SIX_QUESTIONS)
    view = session.hear(DONE, _for(session))
    decision = session.user.reply(view).decision

    assert decision.action == "close"
    known = {file.id for file in view.files} | {message.id for message in view.messages}
    for seen in decision.observations:
        assert seen.status == "met"
        assert seen.evidence
        assert set(seen.evidence) <= known


def test_deviation_on_a_stated_item_names_the_piece_only(talk: Callable[[int], Talk]) -> None:
    """Seed 0: inverse volatility, a stop 20% below entry, 5 bps."""
    session = talk(0)
    session.say(SIX_QUESTIONS)
    spec = (
        "component,parameter,value,source\nportfolio_construction,weighting,equal,user\nrisk_control,rule,position_stop,user\n"
        "risk_control,threshold,0.1,user\ntransaction_cost,rate_bps,5,user\n"
    )

    record = session.say(DONE, {**_for(session), "specification.csv": spec})

    assert record.decision.action == "challenge"
    assert "position sizing" in record.decision.message
    assert "level of the protection rule" in record.decision.message
    assert record.decision.stated_items == ()
    for secret in ("inverse", "20", "5 bps"):
        assert secret not in record.decision.message


def test_right_specification_in_fractions_or_percent_is_no_deviation(talk: Callable[[int], Talk]) -> None:
    for threshold in ("0.2", "20", "0.20"):
        session = talk(0)
        session.say(SIX_QUESTIONS)
        spec = (
            "component,parameter,value,source\nstock_selection,factors,sue,user\nportfolio_construction,weighting,inverse_vol,user\n"
            f"market_timing,rule,vix_gate,user\nrisk_control,threshold,{threshold},user\ntransaction_cost,rate_bps,5.0,user\n"
        )
        assert session.say(DONE, {**_for(session), "specification.csv": spec}).decision.action == "close"
        session.folder = session.folder / "next"


def test_deviation_on_a_never_stated_item_is_met_with_silence(talk: Callable[[int], Talk]) -> None:
    """Nobody asked seed 0 about weights: delivering others is the agent's guess, and the user signs off."""
    session = talk(0)
    spec = "component,parameter,value,source\nportfolio_construction,weighting,equal,user\n"

    assert session.say(DONE, {**_for(session), "specification.csv": spec}).decision.action == "close"


def test_deviation_put_right_leads_to_the_close(talk: Callable[[int], Talk]) -> None:
    session = talk(0)
    session.say(SIX_QUESTIONS)
    wrong = "component,parameter,value,source\nportfolio_construction,weighting,equal,user\n"
    assert session.say(DONE, {**_for(session), "specification.csv": wrong}).decision.action == "challenge"
    assert session.say(DONE + " Again.").decision.action == "challenge"

    right = wrong.replace("equal", "inverse_vol")

    assert session.say("Corrected.", {"specification.csv": right}).decision.action == "close"
