"""Dimensions 4.5 and 4.6: which parameters were varied and how it is read; how the sample was split and what the gap says."""

import re
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from evaluator.judge.rules.figures import DAY, figures
from evaluator.judge.rules.text import Piece
from evaluator.judge.rules.view import View, ruled
from evaluator.measure.naming import plain
from evaluator.package.metric_names import canonical_metric
from records.judging import Finding

_SENSITIVITY = re.compile(
    r"sensitiv|robustness|parameter (?:sweep|grid|variation|stabil)|varied|varying|variants?\b|alternative (?:settings|values|parameters)|stress[- ]test|what if"
)
_OUT = re.compile(
    r"out[- ]?of[- ]?sample|\boos\b|walk[- ]forward|hold-?out|test (?:period|sample|set|window)|validation (?:period|sample)|train(?:ing)?[/ -]test|cross-?validat"
)
_COST = re.compile(r"cost|bps|rate|fee|commission|slippage")
_READING = re.compile(
    r"reading|suggest|depend|robust|sensitive|insensitive|weakest|strongest|worst|best|falls?\b|drops?\b|rises?\b|vary|varies|hardly|stable|fragile|little|no value was picked|halves|change[sd]?\b|means|conclusion|holds? up"
)
_CLAIMS_ROBUST = re.compile(r"robust|insensitive|stable|does not depend|hardly (?:change|move|depend)|holds? up")
_NOT = re.compile(r"\b(?:not|no|n't|hardly|less|neither)\b")
_FROZEN = re.compile(
    r"(?:fixed|frozen|set|chosen|decided|locked|selected|determined|picked)(?: \w+){0,6} (?:before|in advance|on the (?:first|in-sample|training|earlier)|ex ante|up front|using only the (?:first|in-sample|training))|nothing was (?:tuned|re-?fit|changed|optimi[sz]ed)|no parameters? (?:was|were) (?:tuned|re-?fit|changed|optimi[sz]ed)|not (?:tuned|optimi[sz]ed|re-?fit)|before (?:the first run|looking|seeing|any result|running)|(?:parameters|rules|settings) (?:were |are |stayed )?(?:frozen|fixed|unchanged|held constant)|same parameters|without (?:re-?tuning|re-?fitting|tuning)"
)
_AFTER = re.compile(
    r"(?:chosen|tuned|optimi[sz]ed|selected|picked|fitted)(?: \w+){0,4} (?:after (?:seeing|looking)|on (?:the )?(?:full|whole|entire|both)|over the (?:full|whole|entire))|best (?:over|on|in) (?:both|the (?:full|whole|entire))"
)
_GAP = re.compile(
    r"gap\b|differ|higher|lower|worse|better|weaker|stronger|degrad|decay|drop|fell|falls|decline|compared|holds? up|deteriorat|improv|versus|than (?:in|the) (?:in-sample|first|earlier|training)"
)
_LATER = re.compile(r"out|oos|test|later|hold|valid|second")
_EARLIER = re.compile(r"^in|\bis\b|train|early|earlier|first|in[-_ ]sample|develop")


@dataclass
class Varied:
    """Parameters varied in delivered tables or in the report."""

    settings: dict[str, set[str]] = field(default_factory=dict)
    in_table: bool = False
    around: set[str] = field(default_factory=set)
    spread: float = 0.0
    pieces: list[Piece] = field(default_factory=list)


def sensitivity(view: View) -> Finding:
    """Return the finding of 4.5."""
    varied = _varied(view)
    about = [
        p
        for p in view.written(talk=True)
        if (_SENSITIVITY.search(p.section) or _SENSITIVITY.search(p.low)) and p.kind != "code"
    ]
    names = sorted(name for name, values in varied.settings.items() if len(values) >= 2)
    quoted = [*about[:4], *varied.pieces[:4]]
    if not names:
        with_numbers = [p for p in about if len(figures(p.text)) >= 2 and _SENSITIVITY.search(p.low)]
        if with_numbers:
            return ruled("4.5", 2, "one variation is reported with numbers", with_numbers)
        if about:
            return ruled("4.5", 1, "sensitivity is announced without numbers", about[:3])
        return ruled("4.5", 0, "no parameter was varied")
    if len(names) < 2 or not varied.in_table:
        why = f"varied: {', '.join(names)}" + ("" if varied.in_table else "; no table")
        return ruled("4.5", 2, why, quoted)
    lacking = _lacking(view, varied, names, about)
    if lacking:
        return ruled("4.5", 3, f"varied with a table: {', '.join(names)}; missing: {', '.join(lacking)}", quoted)
    return ruled(
        "4.5", 4, f"varied around the chosen value with a table and an honest reading: {', '.join(names)}", quoted
    )


def _lacking(view: View, varied: Varied, names: list[str], about: list[Piece]) -> list[str]:
    lacking = []
    if not any(_COST.search(name.replace("_", " ")) for name in names):
        lacking.append("the cost")
    if sum(1 for name in names if name in varied.around or _chosen_in(view, name, varied.settings[name])) < 2:
        lacking.append("values around the chosen one")
    told = [p for p in about if p.kind != "row" and _READING.search(p.low) and len(p.text.split()) >= 6]
    boasts = any(_CLAIMS_ROBUST.search(p.low) and not _NOT.search(p.low) for p in told)
    if not told:
        lacking.append("a reading")
    elif boasts and varied.spread > 0.5:
        lacking.append(f"an honest reading (it claims robustness over a Sharpe range of {varied.spread:.2f})")
    return lacking


def _chosen_in(view: View, name: str, settings: set[str]) -> bool:
    for row in view.spec:
        if plain(row.key) == plain(name) or plain(row.key) in plain(name):
            return any(_equal(row.value, setting) for setting in settings)
    return False


def _equal(a: str, b: str) -> bool:
    try:
        return abs(float(a) - float(b)) < 1e-9
    except ValueError:
        return plain(a) == plain(b)


def _varied(view: View) -> Varied:
    varied = Varied()
    for table in view.case.delivery.of("sensitivity"):
        _from_frame(table.frame.head(2_000), varied)
    for text in view.reports:
        for piece in text.pieces:
            if (
                _SENSITIVITY.search(piece.section)
                or _SENSITIVITY.search(" ".join(piece.header))
                or piece.kind == "bullet"
            ):
                _from_piece(piece, varied)
    return varied


def _from_frame(frame: pd.DataFrame, varied: Varied) -> None:
    low = {str(column).lower(): column for column in frame.columns}
    named = next((low[c] for c in ("parameter", "param", "variable", "key", "name", "metric") if c in low), None)
    value = next((low[c] for c in ("setting", "value", "level", "choice", "tested") if c in low), None)
    sharpe = next((low[c] for c in low if "sharpe" in c), None)
    if sharpe is not None:
        numbers = pd.to_numeric(frame[sharpe], errors="coerce").dropna()
        varied.spread = max(varied.spread, float(np.ptp(numbers.to_numpy())) if len(numbers) else 0.0)
    if named is not None and value is not None:
        for name, cell in zip(frame[named], frame[value], strict=True):
            varied.settings.setdefault(str(name)[:60], set()).add(str(cell)[:60])
            varied.in_table = True
        chosen = next((low[c] for c in ("chosen", "base", "selected", "is_base", "baseline") if c in low), None)
        if chosen is not None:
            marked = frame[frame[chosen].astype(str).str.lower().isin(["yes", "true", "1", "x", "*", "base", "chosen"])]
            varied.around |= {str(name)[:60] for name in marked[named]}
        return
    for name, column in low.items():
        settings = {str(cell)[:60] for cell in frame[column].dropna().unique()[:200]}
        if canonical_metric(name) is None and 2 <= len(settings) <= 40 and len(settings) < max(3, len(frame)) + 1:
            varied.settings.setdefault(name, set()).update(settings)
            varied.in_table = True


def _from_piece(piece: Piece, varied: Varied) -> None:
    if piece.kind == "row" and len(piece.cells) >= 2:
        head = canonical_metric(piece.cells[0])
        if piece.header and head is None and any(figures(cell) for cell in piece.cells[1:]):
            label = _label(piece)
            varied.settings.setdefault(label[0], set()).add(label[1])
            varied.in_table = True
            varied.pieces.append(piece)
            if re.search(r"chosen|base|\*|selected", piece.low):
                varied.around.add(label[0])
        return
    listed = re.match(r"([\w /-]{2,50})\(([^()]{3,120})\)\s*:", piece.text)
    if listed is not None and "," in listed.group(2) and figures(piece.text[listed.end() :]):
        settings = {part.strip() for part in listed.group(2).split(",")}
        varied.settings.setdefault(listed.group(1).strip(), set()).update(settings)
        varied.pieces.append(piece)


def _label(piece: Piece) -> tuple[str, str]:
    """Return parameter and setting of a table row: 'holdings | 10', 'holdings = 10' or a column named after it."""
    first = piece.cells[0]
    joined = re.match(r"(.{2,40}?)\s*(?:=|:)\s*(.{1,20})$", first)
    if joined:
        return joined.group(1).lower(), joined.group(2).lower()
    number = re.search(r"-?\d+(?:\.\d+)?\s?(?:%|bps)?", first)
    if number and number.group() != first.strip():
        return first.replace(number.group(), "").strip().lower() or piece.header[0], number.group()
    if number:
        return piece.header[0] or "setting", first.lower()
    return first.lower(), piece.cells[1].lower()


def out_of_sample(view: View) -> Finding:
    """Return the finding of 4.6."""
    words = [p for p in view.written(talk=True) if p.kind != "code"]
    about = [p for p in words if _OUT.search(p.low) or _OUT.search(p.section)]
    split = _split(view)
    if not about and split is None:
        return ruled("4.6", 0, "no out-of-sample test")
    denied = [
        p
        for p in about
        if re.search(
            r"\b(?:no|not|without|neither)\b[^.]{0,40}(?:out[- ]?of|walk|hold-?out|split)|(?:out[- ]?of[- ]?sample|walk[- ]forward)[^.]{0,40}(?:not|was skipped|is left|future work)",
            p.low,
        )
    ]
    if denied and len(denied) == len(about) and split is None:
        return ruled("4.6", 0, "the delivery says that there is none", denied)
    dated = split is not None or len({hit.lower() for p in about for hit in DAY.findall(p.text)}) >= 2
    if not dated:
        return ruled("4.6", 1, "claimed without dates", about[:4])
    if split is not None and split.overlap:
        return ruled("4.6", 2, "the two samples overlap", about[:4])
    return _by_choice(about, split)


def _by_choice(about: list[Piece], split: "_Split | None") -> Finding:
    """Return the finding of a dated split by when its parameters were chosen."""
    frozen = [p for p in about if _FROZEN.search(p.low)]
    after = [p for p in about if _AFTER.search(p.low) and not re.search(r"\bnot|nothing|no \b", p.low)]
    both = (split is not None and split.both) or _both_in_words(about)
    if not frozen or after or not both:
        why = (
            "parameters were chosen on both parts"
            if after
            else "not said that the parameters were fixed before"
            if not frozen
            else "one part is not reported"
        )
        return ruled("4.6", 2, f"a split with dates, {why}", about[:6])
    gap = [
        p
        for p in about
        if p.kind != "row"
        and _GAP.search(p.low)
        and re.search(r"sharpe|return|drawdown|perform|result|gap", p.low)
        and not _FROZEN.fullmatch(p.low)
    ]
    quoted = [*frozen[:2], *gap[:3], *about[:3]]
    if not gap:
        return ruled("4.6", 3, "a split with dates fixed before, both parts reported; the gap is not discussed", quoted)
    return ruled("4.6", 4, "a split with dates fixed before, both parts reported and the gap discussed", quoted)


@dataclass(frozen=True)
class _Split:
    overlap: bool
    both: bool


def _split(view: View) -> _Split | None:
    for table in view.case.delivery.of("out_of_sample"):
        frame = table.frame.head(500)
        low = {str(column).lower(): column for column in frame.columns}
        label = next(
            (low[c] for c in ("sample", "period", "split", "window", "part", "name", "segment") if c in low), None
        )
        start = next((low[c] for c in low if re.match(r"(?:test_)?(?:start|from|begin)", c)), None)
        end = next((low[c] for c in low if re.match(r"(?:test_)?(?:end|to\b|until)", c)), None)
        if label is None or start is None or end is None:
            continue
        names = frame[label].astype(str).str.lower()
        late = frame[names.str.contains(_LATER)]
        early = frame[~names.str.contains(_LATER) & names.str.contains(_EARLIER)]
        if not len(late) and not len(early):
            return _Split(overlap=False, both=len(frame) >= 2)
        if len(late) and len(early):
            begins = pd.to_datetime(late[start], errors="coerce").min()
            ends = pd.to_datetime(early[end], errors="coerce").max()
            return _Split(overlap=bool(begins < ends), both=True)
        return _Split(overlap=False, both=False)
    return None


def _both_in_words(about: list[Piece]) -> bool:
    text = [p for p in about if figures(p.text)]
    late = any(_OUT.search(p.low) or re.search(r"\btest\b", p.low) for p in text)
    early = any(
        re.search(
            r"in[- ]sample|train(?:ing)?\b|first (?:part|half|period)|earlier", p.low.replace("out-of-sample", "")
        )
        for p in text
    )
    return late and early
