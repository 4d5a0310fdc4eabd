"""Dimension 2.7: each rule of the strategy, where it is defined, and every second reading that trades differently."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evaluator.judge.rules.agreement import disagreements
from evaluator.judge.rules.figures import WORD_NUMBER, number_word
from evaluator.judge.rules.schemes import DAY_OF_CALENDAR, WEIGHTINGS
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.trading_rules import ESTIMATED, LOOSE, RULES, WINDOW, TradingRule
from evaluator.judge.rules.vagueness import Open, open_passages
from evaluator.judge.rules.view import ASIDE, METHOD, RESULTS, View, ruled
from records.judging import Finding

_COMPARES = re.compile(
    r"\bif (?:all|no|every|both|there (?:is|are) no)\b|compar|versus|\bvs\b|instead of|rather than|unlike|alternativ|would\b|also tested|sensitiv|because|reason|\bif you\b|\?$|not used|not chosen|neither"
)
_EITHER = re.compile(r"\b(?:either|or|and/or|alternatively)\b|/")
_SPAN_OF_CHOICE = re.compile(r"\d+\s?(?:-|–|to|or)\s?\d+\s?(?:names|stocks|holdings|positions|days|months|weeks|%|bps)")
_TICKERS = re.compile(r"(?:\b[A-Z]{1,5}(?:[.-][A-Z])?\b(?:,? and |[,;/]? )){3,}")
"""A list of symbols is a universe, whatever it is called."""
_RESULT = re.compile(
    r"(?:max(?:imum|\.)?|worst|deepest) (?:draw-?down|fall|loss|mdd)(?: (?:was|of|is))?\W{0,8}\d+(?:\.\d+)?\s?%|\bmdd\W{0,8}\d+(?:\.\d+)?\s?%|volatility (?:was |of )?\d+(?:\.\d+)?\s?%"
)
"""Figures of the run; they define no rule."""
_NAMED_BY = {
    "cooldown": r"cool-?down|re-?ent(?:er|ry)|back in",
    "halflife": r"half-?life",
    "cov_window": r"covarian\w+|window",
    "vol_window": r"volatil\w+|window",
    "percentile": r"percentile",
}
"""Words that must stand beside a number for it to be the parameter's, where the number alone is too common."""


_CONSTANT = re.compile(
    r"^(?P<name>[A-Z][A-Z0-9_]{0,30})\s?(?::\s?\w+\s?)?=\s?(?P<value>\d[\d_]{0,8}(?:\.\d{1,6})?)\s*(?:#|$)"
    r"(?<!\w\w\w\w_SEED)",
    re.MULTILINE,
)
"""A parameter of the strategy as code writes it."""


@dataclass(frozen=True)
class Reading:
    """How one rule is written."""

    rule: TradingRule
    state: str
    """defined, elsewhere (specification or code only), open (spoken of, never defined), two (alternatives) or silent."""
    piece: Piece | None = None

    @property
    def settled(self) -> bool:
        """Whether it can be executed as written."""
        return self.state in ("defined", "elsewhere")


def judge(view: View) -> Finding:
    """Return the finding of 2.7."""
    body = [piece for piece in _body(view) if piece.kind != "code"]
    if not body and not view.spec_pieces and not view.code:
        return ruled("2.7", 0, "no rule is written anywhere")
    readings = [_read(rule, body, view) for rule in RULES]
    kept = [reading for reading in readings if _needed(reading, view)]
    second = [f"{r.rule.name}: {_why(r)}" for r in kept if _changes_a_trade(r, view)]
    second += _without_window(kept, body, view)
    left_open = list(open_passages(body))
    named = {hit.partition(":")[0] for hit in second}
    second += [f"{o.rule}: {o.kind} ({o.words})" for o in _once(left_open) if o.rule not in named]
    conflicts = disagreements(view, body)
    hits = [*second, *(text for text, _ in conflicts)]
    pieces = [r.piece for r in kept if r.piece is not None] + [piece for _, piece in conflicts]
    pieces = [*(o.piece for o in left_open), *pieces]
    if not any(_is_concrete(r) for r in kept):
        return ruled("2.7", 0, "no rule can be executed as written", pieces, hits=hits)
    if hits:
        level = 2 if len(set(hits)) == 1 else 1
        return ruled("2.7", level, f"a second reading trades differently: {'; '.join(hits)}", pieces, hits=hits)
    loose = [r.rule.name for r in kept if r.state != "defined"] + _loose_ends(body, view)
    if loose:
        return ruled("2.7", 3, f"one reading each; not defined in the report: {', '.join(loose)}", pieces)
    return ruled("2.7", 4, "every rule is defined once, the same in report and specification or code", pieces)


def _once(found: list[Open]) -> list[Open]:
    """Return the first passage of each rule."""
    return list({one.rule: one for one in reversed(found)}.values())[::-1]


def _body(view: View) -> Iterable[Piece]:
    """Yield what the client reads about the rules: reports, and the last message."""
    for text in view.reports:
        yield from (piece for piece in text.pieces if _speaks_of_rules(piece.section))
    if view.last is not None:
        yield from view.last.pieces


def _speaks_of_rules(section: str) -> bool:
    last = section.rsplit(" > ", 1)[-1]
    other = ASIDE.search(last) or RESULTS.search(last)
    return other is None or METHOD.search(last) is not None


def _low(piece: Piece) -> str:
    return _RESULT.sub(" ", piece.low.replace("_", " ").replace("\u2212", "-"))


def _read(rule: TradingRule, body: list[Piece], view: View) -> Reading:
    spoken = [piece for piece in body if rule.topic.search(_low(piece)) or rule.definite.search(_low(piece))]
    two = next((piece for piece in spoken if _offers_two(rule, piece)), None)
    if two is not None:
        return Reading(rule, "two", two)
    firm = next((piece for piece in spoken if _defines(rule, piece)), None)
    if firm is not None:
        return Reading(rule, "defined", firm)
    inside = next((piece for piece in view.spec_pieces if _defines(rule, piece)), None)
    if inside is not None:
        return Reading(rule, "elsewhere", inside)
    if view.code and _in_code(rule, view.code):
        return Reading(rule, "elsewhere")
    vague = next((piece for piece in spoken if rule.vague.search(_low(piece))), None)
    return Reading(rule, "silent" if vague is None else "open", vague)


def _defines(rule: TradingRule, piece: Piece) -> bool:
    low = _low(piece)
    if rule.name == "universe" and _TICKERS.search(piece.text):
        return True
    if not rule.definite.search(low) or (rule.name == "missing data" and not rule.topic.search(low)):
        return False
    return _loose_near(rule, low) is False


def _loose_near(rule: TradingRule, low: str) -> bool:
    """Whether an open word stands at the definition itself."""
    hit = rule.definite.search(low)
    if hit is None:
        return False
    around = low[max(0, hit.start() - 18) : hit.end() + 12]
    if rule.name in ("missing data", "universe", "combination"):
        return False
    return LOOSE.search(around) is not None or _SPAN_OF_CHOICE.search(around) is not None


def _offers_two(rule: TradingRule, piece: Piece) -> bool:
    low = _low(piece)
    named = [name for name, pattern in rule.options.items() if pattern.search(low)]
    if len(named) < 2 or _COMPARES.search(low) or piece.kind == "row":
        return False
    return len(named) > 2 or _EITHER.search(low) is not None


def _in_code(rule: TradingRule, code: str) -> bool:
    names = {
        "count": r"\b(?:n|top|n_?hold\w*|top_?n|n_?names|n_?stocks|n_?positions|num_\w{1,20})\s*[:=]\s*\d+|\.(?:nlargest|nsmallest)\(\s*\d+|\.head\(\s*\d+",
        "signal": r"shift\(\s*\d+|pct_change\(\s*\d+|rolling\(\s*\d+|LOOKBACK\w{0,20}\s*=\s*\d+",
        "weighting": r"1(?:\.0)?\s*/\s*(?:n\b|len\(|top_?n|n_holdings)|equal_?weight|inverse_?vol|min_?var|risk_?parity|cap_?weight",
        "rebalance calendar": r"resample\(|groupby\([^)\n]{0,60}(?:month|M\b)|month_?end|rebalance\w{0,20}\s*=\s*[\"']\w+|to_period\(",
        "execution": r"shift\(\s*-?1\s*\)|next_?(?:open|close)|\bopen\w{0,10}\.(?:shift|loc)|fill_?(?:date|price)",
        "cost": r"(?:cost|fee|commission|bps)\w{0,20}\s*[:=]\s*[\d.]+",
        "timing": r"\b(?:sma|ma|vix|breadth|regime|gate|filter|market)\w{0,20}\s*[:=]\s*\d+",
        "risk": r"\b(?:stop|target_vol|vol_target|max_dd|drawdown|dd_)\w{0,20}\s*[:=]\s*[\d.]+",
        "missing data": r"dropna\(|ffill\(|fillna\(|isna\(\)",
        "universe": r"(?:UNIVERSE|TICKERS|SYMBOLS|universe|tickers|symbols)\s*=\s*[\[(]",
        "combination": r"z_?score|rank\([^)\n]{0,40}pct|\.rank\(",
    }
    return re.search(names[rule.name], code, re.IGNORECASE) is not None


def _is_concrete(reading: Reading) -> bool:
    """Whether the rule says at least something that could be executed, be it one of two things."""
    if reading.rule.name in ("universe", "missing data", "rebalance calendar"):
        return False
    return reading.settled or reading.state == "two"


def _needed(reading: Reading, view: View) -> bool:
    if reading.rule.name != "combination":
        return True
    several = len(view.case.spec.factors) > 1
    return several or reading.state in ("two", "open")


def _changes_a_trade(reading: Reading, view: View) -> bool:
    if reading.state == "two":
        return True
    if not reading.rule.trades:
        return False
    if reading.rule.name == "universe":
        return reading.state == "open" and view.case.main.frame("prices") is None
    if reading.state == "open":
        return True
    return reading.state == "silent" and (reading.rule.core or reading.rule.name == "combination")


def _why(reading: Reading) -> str:
    if reading.state == "two":
        return "the text offers more than one option"
    return "never stated" if reading.state == "silent" else "spoken of without what it takes to execute it"


def _without_window(kept: list[Reading], body: list[Piece], view: View) -> list[str]:
    """An estimated weighting whose window nobody states has as many readings as windows."""
    weighting = next((r for r in kept if r.rule.name == "weighting" and r.settled and r.piece is not None), None)
    if weighting is None or weighting.piece is None:
        return []
    low = _low(weighting.piece)
    used = [name for name in ESTIMATED if WEIGHTINGS[name].search(low)]
    if not used:
        return []
    near = [piece for piece in (*body, *view.spec_pieces) if re.search(r"varianc|vol|risk parity|window", _low(piece))]
    if any(WINDOW.search(_low(piece)) for piece in near) or re.search(
        r"window\w{0,20}\s*[:=]\s*\d+|rolling\(\s*\d+", view.code
    ):
        return []
    return [f"weighting: {used[0].replace('_', ' ')} without its window"]


def _loose_ends(body: list[Piece], view: View) -> list[str]:
    """What keeps a fully worded report from being complete."""
    ends = []
    estimated = any(WEIGHTINGS[name].search(_low(piece)) for name in ESTIMATED for piece in body)
    if estimated and not any(WINDOW.search(_low(p)) for p in body if re.search(r"varianc|vol|parity|window", _low(p))):
        ends.append("the window of the weights")
    if not any(DAY_OF_CALENDAR.search(_low(piece)) for piece in body):
        ends.append("the day of the rebalance")
    if not view.spec_pieces and not view.code:
        ends.append("a specification table or code to check the report against")
    written = " ".join(piece.text for piece in body)[:400_000]
    numbers = set(re.findall(r"\d+(?:\.\d+)?", written.replace(",", "")))
    words = (number_word(word) for word in re.findall(rf"\b(?:{WORD_NUMBER})\b", written, re.IGNORECASE))
    numbers |= {f"{value:g}" for value in words if value is not None}
    ends += [
        f"{hit['name']} {hit['value']}"
        for hit in _CONSTANT.finditer(view.code)
        if not _shown(hit["value"].replace("_", ""), numbers)
    ][:6]
    for row in view.spec:
        value = row.value.replace(",", "").removesuffix(".0")
        about = _NAMED_BY.get(row.key.lower())
        told = about is None or re.search(about, written, re.IGNORECASE) is not None
        if re.fullmatch(r"\d{1,9}(?:\.\d{1,6})?", value) and not (told and _shown(value, numbers)):
            ends.append(f"{row.key} {row.value}")
    return ends


def _shown(value: str, numbers: set[str]) -> bool:
    number = float(value)
    forms = {value, f"{number:g}", f"{number * 100:g}", f"{number * 10_000:g}"}
    return bool(forms & numbers)
