"""Dimensions 6.1 and 6.3: whose data the calls fetched, and which calls failed, in words the user can read."""

import re
from urllib.parse import urlsplit

from evaluator.measure.case import Case
from evaluator.measure.disclosure import share, visible
from records.calls import CallRecord
from records.grade import Judgement

_VENDOR = re.compile(r"financial modell?ing prep|\bfmp\b", re.IGNORECASE)
_KINDS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = tuple(
    (name, re.compile(endpoint), re.compile(words, re.IGNORECASE))
    for name, endpoint, words in (
        (
            "prices",
            r"price|quote|eod|chart|market-?cap",
            r"\bpric|\bquote|\bohlc|market data|\bindex\b|\bbars\b|market cap",
        ),
        ("splits", r"split", r"\bsplits?\b"),
        ("dividends", r"dividend", r"\bdividend"),
        (
            "statements",
            r"statement|ratios|metrics|financial|growth|earnings|revenue",
            r"\bstatement|\bfundamental|\bfinancials\b|income|balance sheet|cash[- ]flow|\bearnings",
        ),
        ("news", r"news|press|transcript|filing|insider|8k|sec", r"\bnews|\bpress|transcript|\bfiling|insider"),
        ("rates", r"treasury|econom|rates", r"\brates?\b|treasury|econom|\bmacro"),
        (
            "companies",
            r"profile|screener|search|list|constituent|peers|shares|sector|industry",
            r"\bcompan|\bprofile|\buniverse|\bconstituent|\bsector|\bmember|screener",
        ),
    )
)
_EVENTS = ("splits", "dividends", "news")
"""Lists of events: an empty one says that nothing happened."""
_FAILURE = re.compile(
    r"fail|error|unavailab|could(?: not|n't)|cannot|can't|missing|not available|no data|rate[- ]limit|refus|empty|lack|gap"
    r"|without data|did not (?:return|answer)|returned no|blocked|denied|unable",
    re.IGNORECASE,
)
_OK = range(200, 300)


def judge_calls(case: Case) -> Judgement:
    """Return the verdict of 6.1."""
    passages = visible(case)
    calls = [call for call in case.delivery.calls if call.route != "model" and _answered(call)]
    sources: dict[str, int] = {}
    for call in calls:
        sources[_source(call)] = sources.get(_source(call), 0) + 1
    named = {source for source in sources if _is_named(source, passages)}
    hits = sum(count for source, count in sources.items() if source in named)
    lost = [f"not named: {source}, {count} calls" for source, count in sorted(sources.items()) if source not in named]
    return share("6.1", hits, len(calls), ("answered data calls", "have their source named"), lost)


def judge_failures(case: Case) -> Judgement:
    """Return the verdict of 6.3."""
    calls = [call for call in case.delivery.calls if call.route != "model"]
    served = {_data(call) for call in calls if _answered(call) and call.rows != 0}
    failed = [call for call in calls if _failed(call) and _data(call) not in served]
    told = [passage for passage in visible(case) if _FAILURE.search(passage)]
    lost = [call for call in failed if not _is_told(call, told)]
    evidence = [f"not told: {_source(call)} {_symbol(call)}, {_outcome(call)}" for call in lost]
    return share("6.3", len(failed) - len(lost), len(failed), ("failed calls that mattered", "are told"), evidence)


def _answered(call: CallRecord) -> bool:
    return call.refused is None and call.status in _OK


def _failed(call: CallRecord) -> bool:
    return not _answered(call) or (call.rows == 0 and _kind(call) not in _EVENTS)


def _outcome(call: CallRecord) -> str:
    if call.refused is not None:
        return "refused"
    return "empty" if call.status in _OK else f"status {call.status}"


def _kind(call: CallRecord) -> str:
    """Return the kind of data of a call; the host of a web request."""
    if call.route == "web":
        return _host(call.target)
    return next((name for name, endpoint, _ in _KINDS if endpoint.search(call.target)), call.target)


def _symbol(call: CallRecord) -> str:
    return next((call.params[name].upper() for name in ("symbol", "symbols", "ticker") if name in call.params), "")


def _data(call: CallRecord) -> tuple[str, str]:
    """What was asked for: a later answer for the same kind and name makes up for a failure."""
    return _kind(call), _symbol(call)


def _source(call: CallRecord) -> str:
    return _host(call.target) if call.route == "web" else call.target


def _host(target: str) -> str:
    host = urlsplit(target).hostname if "://" in target else target.rsplit(":", 1)[0]
    return (host or target).lower().removeprefix("www.")


def _is_named(source: str, passages: list[str]) -> bool:
    """Name a host or endpoint literally, or the vendor in the same passage as the kind of data."""
    plain = source.lower()
    words = next((words for _, endpoint, words in _KINDS if endpoint.search(plain)), None)
    return any(
        plain in passage.lower()
        or (words is not None and _VENDOR.search(passage) is not None and words.search(passage) is not None)
        for passage in passages
    )


def _is_told(call: CallRecord, passages: list[str]) -> bool:
    """A passage of failure names the symbol, the endpoint or host, or the kind of data."""
    symbol, source = _symbol(call), _source(call)
    words = next((words for name, _, words in _KINDS if name == _kind(call)), None)
    for passage in passages:
        if symbol and re.search(rf"(?<![A-Za-z0-9]){re.escape(symbol)}(?![A-Za-z0-9])", passage):
            return True
        if source in passage.lower() or (words is not None and words.search(passage)):
            return True
    return False
