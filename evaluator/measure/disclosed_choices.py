"""Dimension 6.4: what the agent decided itself is marked as an assumption in some message.

An item is a field of the delivered specification. The user decided it when a user's message states its value; the
phrases that state an option are lent by the caller, so that nothing here knows a strategy.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from evaluator.measure.case import Case
from evaluator.measure.disclosure import agent_texts, sentences, share
from evaluator.measure.naming import group_of, param_of
from records.grade import Judgement
from records.grammar import OPTION_GROUPS, Factor, Option, load_grammar

Phrases = Callable[[str], Iterable[re.Pattern[str]]]
"""Option id -> patterns over lower-case text that state it."""
_NULL = frozenset({"none", "always_invested"})
_WORDS = {
    "factor": r"factor|signal|characteristic|rank",
    "combination": r"combin|blend|average|screen",
    "market_timing": r"timing|filter|gate",
    "weighting": r"weight|sizing",
    "covariance": r"covarian",
    "risk_control": r"risk|stop|drawdown|volatility",
    "execution": r"execut|fill|trade at",
    "transaction_cost": r"cost|fee|commission|bps|rate",
    "n_holdings": r"holding|names|positions|stocks|how many",
    "rebalance": r"rebalanc|monthly|weekly|quarterly|frequency",
    "capital": r"capital|cash|usd|\$",
    "start": r"start|begin|from|period|window",
    "end": r"\bend|until|through|period|window",
}
_MARK = re.compile(
    r"assum|\bmy (?:own )?(?:choice|default|pick|call|decision)\b|\bown choice\b|\b(?:i|we)(?:'ve| have)? (?:chose|picked|took|set|selected|defaulted|used|will use)\b"
    r"|\bdefault\b|\bchosen by me\b|\bmine\b|unless you (?:say|tell|object|prefer)|you (?:did not|didn't|have not) (?:say|said|specif|mention)",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(?:no|not|don't|never|without|nor)\s+(?:[\w'-]+\s+){0,2}$")
_COUNT = r"(?:\w+[ -]){0,3}?(?:names?|stocks?|holdings?|positions?|companies)"


@dataclass(frozen=True)
class _Choice:
    field: str
    """Key of the words that speak of it."""
    name: str
    stated: bool


def judge(case: Case) -> Judgement:
    """Return the verdict of 6.4."""
    choices = [choice for choice in _choices(case) if not choice.stated]
    marked = _marked(case)
    lost = [choice.name for choice in choices if not _is_marked(choice, marked)]
    evidence = [f"not marked: {', '.join(lost)}"] if lost else []
    return share(
        "6.4", len(choices) - len(lost), len(choices), ("choices of the agent", "are marked as assumptions"), evidence
    )


def _choices(case: Case) -> Iterator[_Choice]:
    """Yield the items of the delivered specification, null options left out: what is not there is no item."""
    said = [message.text.lower() for message in case.delivery.messages if message.role == "user"]
    parts = [part for text in said for part in sentences(text)]
    yield from _options(case, parts)
    yield from _values(case, parts)
    yield from _plain(case, "\n".join(parts))


def _options(case: Case, parts: list[str]) -> Iterator[_Choice]:
    spec = case.spec
    for factor in spec.factors:
        yield _Choice("factor", factor.lstrip("?"), _states(factor.lstrip("?"), parts, case))
    for group in OPTION_GROUPS:
        option = getattr(spec, group, None)
        # A cost is its rate, which is a value.
        if option is not None and option not in _NULL and group != "transaction_cost":
            yield _Choice(group, option, _states(option, parts, case))


def _values(case: Case, parts: list[str]) -> Iterator[_Choice]:
    for key, value in case.spec.values.items():
        option, _, name = key.partition(".")
        owner = group_of(option)
        if owner is not None and getattr(case.spec, owner, None) == option:
            param = param_of(owner, option, name)
            unit = "" if param is None else param.unit
            yield _Choice(owner, key, any(_says_value(part, value, unit) for part in parts))


def _plain(case: Case, whole: str) -> Iterator[_Choice]:
    spec = case.spec
    if spec.n_holdings is not None:
        pattern = rf"\b(?:top|best|hold)\s+{spec.n_holdings}\b|\b{spec.n_holdings} {_COUNT}"
        yield _Choice("n_holdings", f"n_holdings {spec.n_holdings}", re.search(pattern, whole) is not None)
    if spec.rebalance is not None:
        pattern = rf"\b{spec.rebalance}\b|(?:every|each|once a) {spec.rebalance.removesuffix('ly')}"
        yield _Choice("rebalance", f"rebalance {spec.rebalance}", re.search(pattern, whole) is not None)
    if spec.capital is not None:
        yield _Choice("capital", f"capital {spec.capital:g}", _says_capital(whole, spec.capital))
    for name, day in (("start", spec.start), ("end", spec.end)):
        if day is not None:
            yield _Choice(name, f"{name} {day}", str(day.year) in whole)


def _states(option: str, parts: list[str], case: Case) -> bool:
    patterns = [*_from_grammar(option), *(case.phrases(option) if case.phrases else ())]
    for part in parts:
        for pattern in patterns:
            if any(not _NEGATED.search(part[: hit.start()]) for hit in pattern.finditer(part)):
                return True
    return False


def _from_grammar(option: str) -> list[re.Pattern[str]]:
    """Return the option's own names: id, label and aliases, with any separator between their words."""
    grammar = load_grammar()
    options: list[Factor | Option] = [
        *grammar.factors,
        *(one for group in OPTION_GROUPS for one in grammar.group(group)),
    ]
    names = {name.lower() for one in options if one.id == option for name in (one.id, one.label, *one.aliases)}
    parted = (r"[\W_]{1,3}".join(re.escape(word) for word in re.findall(r"[^\W_]+", name)) for name in names)
    return [re.compile(rf"(?<![^\W_]){pattern}(?![^\W_])") for pattern in parted if pattern]


def _says_value(text: str, value: float, unit: str) -> bool:
    for hit in re.finditer(r"(\d+(?:\.\d+)?)\s*(%|percent|per cent|bps?\b|basis points?|[a-z]+)?", text):
        number, word = float(hit[1]), hit[2] or ""
        percent, points = word.startswith(("%", "per")), word.startswith(("bp", "basis"))
        if unit == "bps":
            number = number * 100 if percent else number
        elif unit == "percent":
            number = number / 100 if points else number
        plain = unit not in ("bps", "percent") or percent or points
        if plain and abs(number - value) <= 0.005 * max(abs(value), 1e-9):
            return True
    return False


def _says_capital(text: str, capital: float) -> bool:
    scales = {"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6}
    for hit in re.finditer(r"(\d[\d,]*(?:\.\d+)?)\s*(k|thousand|mn?|million)?\b", text):
        number = float(hit[1].replace(",", "").rstrip(".") or 0) * scales.get(hit[2] or "", 1.0)
        if number and abs(number / capital - 1) <= 0.005:
            return True
    return False


def _marked(case: Case) -> list[str]:
    """Return the lines of messages that mark an assumption: by their own words, or as a list under such a heading."""
    found = []
    for _, text in agent_texts(case):
        listed = False
        for line in text.lower().splitlines():
            marks = _MARK.search(line) is not None and not line.rstrip(" *").endswith("?")
            if marks:
                found.append(line)
                listed = line.rstrip(" *").endswith(":") or line.startswith("#")
            elif listed and re.match(r"\s*(?:[-*|\u2022]|\d+[.)])", line):
                found.append(line)
            elif line.strip():
                listed = False
    return found


def _is_marked(choice: _Choice, lines: list[str]) -> bool:
    words = re.compile(_WORDS[choice.field])
    names = [part for part in re.split(r"[ .]", choice.name) if part[:1].isalpha()]
    spoken = {*names, *(name.replace("_", " ") for name in names)}
    return any(words.search(line) or any(name in line for name in spoken) for line in lines)
