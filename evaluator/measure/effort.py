"""Dimensions 7.1-7.3: time, tokens and actions, measured and reported, never scored."""

from collections import Counter

from evaluator.measure.case import Case
from evaluator.measure.verdict import measured
from records.grade import Judgement
from records.prices import load_prices
from records.usage import Usage

Facts = dict[str, float | int | str | None]
_DIGITS = 6


def judge_time(case: Case) -> Judgement:
    """Return 7.1: seconds of the agent's turns, and how many were cut at their limit."""
    facts = time_facts(case)
    return measured(
        "7.1", f"{facts['time_s']} s in {facts['agent_turns']} turns, {facts['turns_cut']} cut at the limit"
    )


def judge_tokens(case: Case) -> Judgement:
    """Return 7.2: tokens and their price at the dated table."""
    facts = token_facts(case)
    if facts["tokens_input"] is None:
        return measured("7.2", "the agent reports no tokens")
    text = (
        f"{facts['tokens_input']} input, {facts['tokens_cached']} cached and {facts['tokens_output']} output tokens, "
        + (
            f"{facts['usd']} USD at prices of {facts['price_table_date']}"
            if facts["usd"] is not None
            else str(facts["usd_note"])
        )
    )
    return measured("7.2", text)


def judge_actions(case: Case) -> Judgement:
    """Return 7.3: requests by kind and agent turns."""
    facts = action_facts(case)
    kinds = [f"{name.removeprefix('calls_')} {count}" for name, count in facts.items() if name.startswith("calls_")]
    return measured("7.3", f"{facts['agent_turns']} turns; {', '.join(kinds) or 'no call'}", kinds)


def effort_facts(case: Case) -> Facts:
    """Return the facts of 7.1-7.3."""
    return {**time_facts(case), **token_facts(case), **action_facts(case)}


def time_facts(case: Case) -> Facts:
    """Return seconds between the start and the end of each agent turn, summed."""
    turns = case.delivery.turns
    seconds = sum((turn.ended_at - turn.started_at).total_seconds() for turn in turns)
    return {"time_s": round(seconds, 3), "turns_cut": sum(turn.cut for turn in turns), "agent_turns": len(turns)}


def token_facts(case: Case) -> Facts:
    """Return token counts and USD; None where the agent reports none or no price is known."""
    turns = case.delivery.turns
    spoken = [turn.usage for turn in turns if turn.usage is not None]
    if not spoken:
        return dict.fromkeys(("tokens_input", "tokens_cached", "tokens_output", "usd", "price_table_date"))
    used = [one for usages in spoken for one in usages]
    facts: Facts = {
        "tokens_input": sum(one.input + one.cache_write for one in used),
        "tokens_cached": sum(one.cache_read for one in used),
        "tokens_output": sum(one.output for one in used),
        "turns_without_tokens": len(turns) - len(spoken),
    }
    return facts | _priced(used)


def _priced(used: list[Usage]) -> Facts:
    table = load_prices()
    dated = None if table.date is None else str(table.date)
    unknown = sorted({one.model for one in used if one.model not in table.models})
    if unknown:
        note = f"no price known for {', '.join(unknown)}"
        return {"usd": None, "price_table_date": dated, "usd_note": note}
    usd = sum(table.models[one.model].cost(one) for one in used)
    return {"usd": round(usd, _DIGITS), "price_table_date": dated}


def action_facts(case: Case) -> Facts:
    """Return how many data and web requests went out or were refused, by kind, and the agent's turns."""
    calls = [call for call in case.delivery.calls if call.route != "model"]
    kinds = Counter(f"calls_{call.route}" for call in calls)
    kinds["calls_refused"] = sum(call.refused is not None for call in calls)
    return {"agent_turns": len(case.delivery.turns), **{name: count for name, count in sorted(kinds.items()) if count}}
