"""docs/rubric.md, made from the rubric: `python -m records.rubric_page > docs/rubric.md`."""

import sys
import textwrap
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files

from pydantic import Field

from records.base import Record
from records.rubric import Dimension, Rubric, Rule, load_rubric

_TITLES = {
    "data": "Data",
    "strategy": "Strategy",
    "backtest": "Backtest",
    "assessment": "Assessment",
    "user_experience": "User experience",
    "process_transparency": "Process transparency (reported only)",
    "cost": "Cost (measured only)",
}
_JUDGES = {
    "P": "program",
    "L": "judge of meaning",
    "H": "claims found in the delivery and the program's check of the tables",
    "L/P": "judge of meaning marks, a program counts",
    "L↓P": "the lower of the judge of meaning and a program",
    "R/P": "program, reported only",
    "M": "measured",
}
_INTRO = """# Rubric

Made from `records/data/rubric.json`; do not edit. `python -m records.rubric_page > docs/rubric.md` writes it again.

The same file is read by the programs, stands in the judge's prompts and is hashed into the evaluator version.
{count} dimensions in {categories} categories: {scored} are scored 0-4, {reported} reported only, {measured} measured; {vetoes} are vetoes. A program that
cannot come to a verdict leaves a dimension `unverified` and grading incomplete; it never passes it, and what the
delivered data stop scores no more than a wrong delivery would (ADR 0014)."""
_WIDTH = 118


_EXAMPLES = """## Worked examples

Small deliveries of this repository's tests, graded by hand; a test recomputes every number. The grades of the judge of
meaning are given, everything else follows from the tables."""


class Example(Record):
    """One delivery graded by hand."""

    key: str = Field(description="which delivery of tests/evaluator/examples.py")
    title: str
    delivery: str
    judged: dict[str, int] = Field(description="grades of the judge of meaning, given")
    scores: dict[str, int | None] = Field(description="every scored dimension; None does not apply")
    categories: dict[str, float]
    quality: float
    score: float
    accepted: bool
    failed: tuple[str, ...] = Field(description="vetoes that fail")
    steps: tuple[str, ...]


class Examples(Record):
    """The worked examples, in order."""

    examples: tuple[Example, ...]


@cache
def load_examples() -> Examples:
    """Return the worked examples that ship with this version."""
    text = (files("records") / "data" / "worked_examples.json").read_text(encoding="utf-8")
    return Examples.model_validate_json(text)


def page() -> str:
    """Return the whole page."""
    rubric = load_rubric()
    parts = [_intro(rubric), _overview(rubric)]
    for category, title in _TITLES.items():
        parts.append(f"## {title}")
        parts += [_dimension(one) for one in rubric.dimensions if one.category == category]
    parts += [
        _rules("Audit checks (3.7)", rubric.audit),
        _rules("Links (3.8)", rubric.links),
        _rules(
            "Tolerances",
            rubric.tolerances,
            "A reported figure and the own one may differ by this much, fractions of one unless said.",
        ),
        _rules("Equations", rubric.equations, "The numbers are the paper's."),
        _rules("End reasons", rubric.end_reasons),
        _implications(rubric),
        _EXAMPLES,
        *(_example(one, rubric) for one in load_examples().examples),
    ]
    return "\n\n".join(parts) + "\n"


def _intro(rubric: Rubric) -> str:
    scored = [one for one in rubric.dimensions if one.category in rubric.scored_categories]
    reported = [one for one in rubric.dimensions if one.category == "process_transparency"]
    return _INTRO.format(
        count=len(rubric.dimensions),
        categories=len(_TITLES),
        scored=len(scored),
        reported=len(reported),
        measured=len(rubric.dimensions) - len(scored) - len(reported),
        vetoes=sum(one.veto_below is not None for one in rubric.dimensions),
    )


def _overview(rubric: Rubric) -> str:
    rows = ["## All dimensions", "", "| id | dimension | judge | veto |", "| --- | --- | --- | --- |"]
    for one in rubric.dimensions:
        veto = "" if one.veto_below is None else f"below {one.veto_below}"
        rows.append(f"| {one.id} | {one.name} | {one.judge} | {veto} |")
    rows += ["", "Judges: " + "; ".join(f"{short} = {long}" for short, long in _JUDGES.items()) + "."]
    return "\n".join(rows)


def _dimension(one: Dimension) -> str:
    veto = "" if one.veto_below is None else f" Veto: below {one.veto_below} the session fails."
    lines = [f"### {one.id} {one.name}", "", f"Judge: {_JUDGES[one.judge]}.{veto}", "", _filled(one.definition)]
    if one.anchors:
        lines += ["", "| score | anchor |", "| --- | --- |"]
        lines += [f"| {level} | {_escaped(text)} |" for level, text in sorted(one.anchors.items())]
    return "\n".join(lines)


def _rules(title: str, rules: Iterable[Rule], lead: str = "") -> str:
    lines = [f"## {title}", "", *([lead, ""] if lead else []), "| | rule |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| {rule.id} | {_escaped(rule.text)} |" for rule in rules)])


def _implications(rubric: Rubric) -> str:
    lines = [
        "## Implications",
        "",
        "One flaw may lower several dimensions. `falls too` always does, `may fall` by the size or place of the flaw; a",
        "second failing veto is expected exactly where it stands here.",
        "",
        "| flaw | looked for by | falls too | may fall |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {one.cause} | {one.dimension} | {' '.join(one.also) or '-'} | {' '.join(one.may) or '-'} |"
        for one in rubric.implies
    ]
    return "\n".join(lines)


def _example(one: Example, rubric: Rubric) -> str:
    lines = [f"### {one.title}", "", _filled(one.delivery), ""]
    lines += [_filled(f"{number}. {step}") for number, step in enumerate(one.steps, start=1)]
    lines += ["", *_arithmetic(one, rubric)]
    return "\n".join(lines)


def _arithmetic(one: Example, rubric: Rubric) -> Iterator[str]:
    yield "| category | scores | mean x 25 |"
    yield "| --- | --- | --- |"
    for category in rubric.scored_categories:
        ids = [dimension.id for dimension in rubric.dimensions if dimension.category == category]
        shown = ", ".join(f"{name}: {'-' if one.scores[name] is None else one.scores[name]}" for name in ids)
        yield f"| {_TITLES[category]} | {shown} | {one.categories[category]:.2f} |"
    total = " + ".join(f"{one.categories[category]:.2f}" for category in rubric.scored_categories)
    failed = f"vetoes that fail: {', '.join(one.failed)}" if one.failed else "every veto passes"
    yield ""
    yield (
        f"Q = ({total}) / {len(rubric.scored_categories)} = {one.quality:.2f}; {failed}; Score = {one.score:.2f}; "
        + ("accepted." if one.accepted else "not accepted.")
    )


def _escaped(text: str) -> str:
    """Return the text as a table cell."""
    return text.replace("|", "\\|")


def _filled(text: str) -> str:
    """Return a paragraph in lines of the page's width."""
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)


if __name__ == "__main__":
    sys.stdout.write(page())
