"""What the agent's prose claims: the latest word on an option or a value counts, a retraction cancels what came before.

A name is a claim only where the sentence affirms it: not after "instead of", not in a question or an offer, not in a line
about a variant that was only tried. Words about results ("maximum drawdown 20 %") are no words about a rule.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Literal

from evaluator.compare.finding import Finding
from evaluator.compare.numbers import Number, numbers
from evaluator.compare.quotes import Passage
from evaluator.measure.synonyms import SYNONYMS
from evaluator.package.quoting import flat
from records.grammar import OPTION_GROUPS, Factor, Option, load_grammar
from records.strategy import Item

Reading = Literal["affirmed", "denied", "retracted"]

_RETRACTED = (
    r"dropp(?:ed|ing)|remov(?:ed|ing)|replac(?:ed|ing)|abandon(?:ed|ing)|discard(?:ed|ing)|switch(?:ed|ing) (?:away )?from"
    r"|mov(?:ed|ing) (?:away )?from|no longer|instead of|in place of|took out|taken out|gave up|given up|scrapp(?:ed|ing)"
)
_DENIED = (
    r"not|n't|never|no|none|without|nor|neither|rather than|unlike|versus|vs|compared (?:with|to)|than|avoid\w*|excluding"
    r"|differs? from|alternatives?(?: to)?|could also|could use|might use|would use|except"
)
_FEW_WORDS = r"(?:[\s:]+(?:an?|the|any|my|our|its|using|use|used|plain|simple|pure|[\w'-]+)){0,3}[\s:(\"'*`]*$"
_RETRACTED_BEFORE = re.compile(rf"\b(?:{_RETRACTED})\b{_FEW_WORDS}")
_DENIED_BEFORE = re.compile(rf"(?:\b|(?<=n't))(?:{_DENIED})\b{_FEW_WORDS}")
_RETRACTED_AFTER = re.compile(
    r"^[^.;,]{0,40}?\b(?:dropped|removed|replaced|abandoned|discarded|no longer|taken out|scrapped|switched off|disabled)\b"
)
_DENIED_AFTER = re.compile(
    r"^[^.;,]{0,30}?\b(?:(?:is|are|was|were|does|do|did|has been|have been)(?: not|n't)\b|not (?:used|applied|part|needed)"
    r"|rejected|would be|would have|could be|might be)"
)
_OPEN = re.compile(
    r"\b(?:would you|do you|should i|shall i|shall we|may i|or do|if you (?:want|prefer|like|would)|let me know"
    r"|happy to|do we|did you|are you|which of|please (?:tell|say|confirm|choose))\b|\?\W*$"
)
_ON_THE_SIDE = re.compile(
    r"\b(?:sensitivit\w*|robustness|variants?|alternativ\w*|for comparison|what[- ]if|tried|tested as|ablation|other options?"
    r"|stress run|candidates?|scenario)\b"
)
_ADOPTED = re.compile(
    r"\b(?:switch\w* to|chang\w* (?:\w+ ){0,4}to|mov\w* to|replac\w* (?:\w+ ){0,5}(?:by|with)|now|instead|is|are|uses?|using|weigh\w*|siz\w*"
    r"|fill\w*|trad\w*|rank\w*|estimat\w*|combin\w*|blend\w*)\b"
)
_SWITCHED = re.compile(
    r"\b(?:switch\w* to|chang\w* (?:\w+ ){0,4}to|mov\w* to|replac\w* (?:[\w-]+ ){0,5}(?:by|with)|now|instead of|in place of)\b"
)
_CLAUSE = re.compile(r"[;:](?!\d)|,\s(?:but|and then|while)\s|\bbut\b|\s[-\u2013\u2014]\s")
_SHARED = frozenset({"screen", "commission", "slippage", "transaction cost", "trading cost", "bps", "basis points"})
_PLAIN_WORDS = frozenset(
    {"sample", "equal", "staged", "breadth", "participation", "none", "scale in", "slices", "accruals"}
)
"""Names that are also ordinary words of a report ("out of sample"); the longer names of their options stay."""
_NULLS: dict[str, str] = {
    "market_timing": r"always invested|no market timing|no timing (?:rule|overlay|gate)|(?:stays?|is|remains?) (?:always |fully )+invested at all times|no market filter",
    "risk_control": r"no risk (?:control|overlay)|without any (?:stops?|risk control)|no stops? (?:is|are|was|were) (?:used|applied)",
    "transaction_cost": r"no (?:transaction|trading) costs? (?:is|are|was|were)|frictionless|zero commission|cost-free|costs? (?:is|are|was|were) (?:zero|ignored|not modelled)",
}
_TOPICS: dict[str, str] = {
    "drawdown_stop": r"(?=.*\b(?:draw-?downs?|peak)\b)(?=.*\b(?:stops?|exits?|cash|cuts?|limit|triggers?|threshold|reach\w*|breach\w*|liquidat\w*|halt\w*|de-risk\w*|sell\w*|sold|flat|breaker)\b)",
    "position_stop": r"(?=.*\b(?:stops?|stop-loss\w*|cut|sold|sells?|exit\w*|clos\w*)\b)(?=.*(?:\b(?:positions?|names?|holdings?|entry|each|per|single|individual|cost|stop-loss\w*|stop loss)\b))",
    "vol_target": r"(?=.*\b(?:vol|volatility)\b)(?=.*\b(?:targets?|targeted|targeting|target_vol|scal\w*|aim\w*)\b)",
    "fixed_rate": r"(?=.*\b(?:costs?|fees?|commissions?|slippage|transaction|one-way|per (?:trade|side|fill)|charg\w*|every (?:trade|fill)|each (?:trade|fill)|rate)\b)",
}
"""What a sentence must speak of before a number in it is the level of that rule."""
_RESULT = re.compile(
    r"\b(?:max(?:imum)?\.? draw-?down|realised|realized|worst draw-?down|turnover|total fees|annuali[sz]ed volatility)\b"
    r"(?![^.;]*\b(?:stop|limit|exit|cash|threshold|target)\b)"
)


def option_in_prose(item: Item, rivals: Sequence[str], field: str, said: Sequence[Passage]) -> Finding:
    """Return what the latest word on an option is.

    Args: rivals: options that exclude it; none for a factor, which stands for itself. field: the part of the specification.
    """
    null = re.compile(rf"\b(?:{_NULLS[field]})") if field in _NULLS else None
    found, since = Finding("missing"), -1
    for passage in said:
        text = flat(passage.text)
        mine = reading(text, item.option)
        quote = ((passage.doc, passage.text),)
        if mine == "affirmed":
            found, since = Finding("present", quote), passage.turn
        elif mine is not None:
            if found.claim == "present" and (mine == "retracted" or passage.turn > since):
                found = Finding("missing", quote)
        elif _rival_named(text, rivals, null) and _may_replace(text, found, passage.turn, since):
            found = Finding("contradicted", quote)
    return found


def reading(text: str, option: str) -> Reading | None:
    """Return what a flat sentence does with an option's best name; None where it does not claim anything about it."""
    spans = [hit.span() for hit in pattern(option).finditer(text)]
    if not spans or _OPEN.search(text) or _ON_THE_SIDE.search(text):
        return None
    readings = {_at(text, start, end) for start, end in spans}
    order: tuple[Reading, ...] = ("affirmed", "retracted", "denied")
    return next(found for found in order if found in readings)


def _at(text: str, start: int, end: int) -> Reading:
    begin = max((hit.end() for hit in _CLAUSE.finditer(text, 0, start)), default=0)
    before, after = text[begin:start], text[end:]
    if _RETRACTED_BEFORE.search(before) or _RETRACTED_AFTER.search(after):
        return "retracted"
    return "denied" if _DENIED_BEFORE.search(before) or _DENIED_AFTER.search(after) else "affirmed"


def _rival_named(text: str, rivals: Sequence[str], null: "re.Pattern[str] | None") -> bool:
    if any(reading(text, rival) == "affirmed" for rival in rivals):
        return True
    return null is not None and null.search(text) is not None and not (_OPEN.search(text) or _ON_THE_SIDE.search(text))


def _may_replace(text: str, found: Finding, turn: int, since: int) -> bool:
    """Whether another option's name replaces what was found: nothing yet, said to be new, or adopted in a later turn."""
    if found.claim != "present" or _SWITCHED.search(text) is not None:
        return True
    return turn > since and _ADOPTED.search(text) is not None


def value_in_prose(item: Item, said: Sequence[Passage]) -> Finding:
    """Return what the latest number on the item's rule is."""
    topic = _topic(item.option)
    found = Finding("missing")
    if item.value is None or topic is None:
        return found
    unit = "bps" if item.unit == "bps" else "percent"
    for passage in said:
        text = flat(passage.text)
        if _OPEN.search(text) or _ON_THE_SIDE.search(text) or _RESULT.search(text) or topic.search(text) is None:
            continue
        levels = _levels(text, unit)
        if not levels:
            continue
        quote = ((passage.doc, passage.text),)
        found = Finding("present" if levels[-1].equals(item.value, unit) else "contradicted", quote)
    return found


def _levels(text: str, unit: str) -> list[Number]:
    """Return the affirmed numbers of a sentence that can be a level in this unit."""
    found = [number for number in numbers(text) if number.unit == unit or (unit == "bps" and number.unit == "percent")]
    levels = [number for number in found if _at(text, number.start, number.end) == "affirmed"]
    if unit == "bps" and any(number.unit == "bps" for number in levels):
        return [number for number in levels if number.unit == "bps"]
    return levels


@cache
def _topic(option: str) -> "re.Pattern[str] | None":
    return re.compile(_TOPICS[option], re.DOTALL) if option in _TOPICS else None


@cache
def pattern(option: str) -> "re.Pattern[str]":
    """Return what finds an option's names in flat text, spaces, hyphens, slashes and underscores alike."""
    bodies = [
        r"[\s_/*`'\u2019-]+".join(re.escape(word) for word in re.findall(r"[a-z0-9+]+", name)) for name in names(option)
    ]
    bodies = [body for body in bodies if body]
    return re.compile(rf"(?<![a-z0-9])(?:{'|'.join(bodies)})(?:s|ed|ing)?(?![a-z0-9])" if bodies else r"(?!)")


@cache
def names(option: str) -> tuple[str, ...]:
    """Return id, label, aliases and synonyms of an option, the longest first; ordinary words are left out."""
    grammar = load_grammar()
    options: list[Factor | Option] = [*grammar.factors]
    for group in OPTION_GROUPS:
        options += grammar.group(group)
    found = [o for o in options if o.id == option and not (isinstance(o, Option) and o.null)]
    every = {name.lower() for o in found for name in (o.id, o.label, *o.aliases, *SYNONYMS.get(o.id, ()))}
    every -= _PLAIN_WORDS | (_SHARED if option != "fixed_rate" else frozenset())
    return tuple(sorted(every, key=lambda name: (-len(name), name)))
