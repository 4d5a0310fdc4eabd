"""`python -m tests.labels.agreement`: how far the rules and a blind annotator agree on four vetoes of meaning and on S."""

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evaluator.assess import assess
from evaluator.compare.statements import read_statements
from evaluator.package.attempt import load_delivery
from evaluator.package.delivery import Message
from generator.items import GROUPS
from records.grammar import Factor, Grammar, Option, Param, load_grammar
from records.strategy import Item
from tests.evaluator.deliveries import write_session

_T = TypeVar("_T")
FOLDER = Path(__file__).parent
MEANING = FOLDER / "meaning.jsonl"
SENTENCES = FOLDER / "user_sentences.jsonl"
KNOWN = tuple(FOLDER.parent / "evaluator" / "cases" / f"user_sentences{name}.jsonl" for name in ("", "_hard"))
"""Sets the reader has been made with; they stand beside ours for comparison."""
DIMENSIONS = ("2.7", "4.1", "5.1", "5.6")
LEVELS = (0, 1, 2, 3, 4)
FAR = 2
"""Levels apart from which a disagreement is listed."""
Half = Literal["tuned", "held out"]
HALVES: tuple[Half, ...] = ("tuned", "held out")
"""Even lines of a set were read while the rules were mended, odd lines were not; the latter is the figure to quote."""


@dataclass(frozen=True)
class Case:
    """One conversation with its last delivery and the level a reader of the anchors gave it."""

    id: str
    dimension: str
    label: int
    why: str
    messages: tuple[tuple[str, str], ...]
    files: dict[str, str]


@dataclass(frozen=True)
class Graded:
    """A case beside the settled score of the rules; None when they gave none."""

    case: Case
    score: int | None
    reason: str


@dataclass(frozen=True)
class Agreement:
    """Two raters on the same cases."""

    confusion: "np.ndarray[Any, Any]"
    """Rows are labels, columns scores."""
    exact: float
    veto: float
    """Share with the same answer to the question whether the veto passes."""
    kappa: float
    weighted: float
    """Quadratic weights."""


@dataclass(frozen=True)
class Sentence:
    """What a user says to an agent, with what it states of a belief."""

    user_message: str
    belief_items: tuple[str, ...]
    stated: frozenset[str]
    values: dict[str, float]


@dataclass(frozen=True)
class Read:
    """A sentence beside the items the reader found in it."""

    sentence: Sentence
    found: frozenset[str]


def rows(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@cache
def cases() -> tuple[Case, ...]:
    """Return the labelled conversations and deliveries."""
    return tuple(
        Case(**{**row, "messages": tuple((user, agent) for user, agent in row["messages"])}) for row in rows(MEANING)
    )


def half_of(found: Sequence[_T], half: Half) -> tuple[_T, ...]:
    """Return every second record: lines are counted from one, so the first is odd and held out."""
    return tuple(found[1::2] if half == "tuned" else found[::2])


@cache
def sentences(path: Path = SENTENCES) -> tuple[Sentence, ...]:
    """Return the labelled user sentences of a set."""
    return tuple(
        Sentence(row["user_message"], tuple(row["belief_items"]), frozenset(row["stated"]), row.get("values", {}))
        for row in rows(path)
    )


def write_case(case: Case, root: Path) -> Path:
    """Write a case as the public tree of an attempt, its files delivered in the last turn."""
    public = write_session(root / "public", list(case.messages))
    for turn in range(1, len(case.messages) + 1):
        (public / "turns" / str(turn) / "deliver").mkdir(parents=True, exist_ok=True)
    deliver = public / "turns" / str(len(case.messages)) / "deliver"
    for name, text in case.files.items():
        path = deliver / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return public


@cache
def graded() -> tuple[Graded, ...]:
    """Return every case with the settled score of its dimension."""
    with tempfile.TemporaryDirectory() as root:
        return tuple(_grade(case, Path(root) / case.id) for case in cases())


def _grade(case: Case, root: Path) -> Graded:
    measured = assess(load_delivery(write_case(case, root))).measured
    found = next(judgement for judgement in measured.judgements if judgement.dimension == case.dimension)
    return Graded(case, found.score, found.reason)


def agreement(pairs: Sequence[tuple[int, int]], veto_below: int = 2) -> Agreement:
    """Compare (label, score) pairs."""
    labels, scores = zip(*pairs, strict=True)
    return Agreement(
        confusion=confusion_matrix(labels, scores, labels=LEVELS),
        exact=float(np.mean([label == score for label, score in pairs])),
        veto=float(np.mean([(label < veto_below) == (score < veto_below) for label, score in pairs])),
        kappa=float(cohen_kappa_score(labels, scores, labels=LEVELS)),
        weighted=float(cohen_kappa_score(labels, scores, labels=LEVELS, weights="quadratic")),
    )


def by_dimension(found: Iterable[Graded]) -> dict[str, Agreement]:
    """Return the agreement of each dimension; a case without a score is in none."""
    pairs: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for one in found:
        if one.score is not None:
            pairs[one.case.dimension].append((one.case.label, one.score))
    return {dimension: agreement(pairs[dimension]) for dimension in DIMENSIONS}


def overall(found: Iterable[Graded]) -> Agreement:
    """Return the agreement over all four dimensions."""
    return agreement([(one.case.label, one.score) for one in found if one.score is not None])


def items_of(sentence: Sentence) -> tuple[Item, ...]:
    """Return the items of a sentence's belief as a draw would give them; fractions become the unit of the grammar."""
    return tuple(_item(load_grammar(), name, sentence.values.get(name)) for name in sentence.belief_items)


def _item(grammar: Grammar, name: str, value: float | None) -> Item:
    component, option_name, *rest = name.split("/")
    option = option_of(grammar, component, option_name)
    param = param_of(option, rest[0]) if rest else None
    unit = param.unit if param else None
    if value is not None and unit == "percent":
        value = round(100 * value, 9)
    return Item(
        id=name,
        component=component,
        option=option_name,
        param=param.name if param else None,
        text=option.say or option.label,
        value=value,
        unit=unit,
        ask_cues=tuple(grammar.ask_cues[component]),
        aliases=(*param.aliases, *option.aliases) if param else tuple(option.aliases),
    )


def option_of(grammar: Grammar, component: str, name: str) -> Factor | Option:
    """Return an option of the grammar. Raises: KeyError."""
    for group in GROUPS[component]:  # type: ignore[index]
        for option in getattr(grammar, group):
            if option.id == name:
                found: Factor | Option = option
                return found
    raise KeyError(name)


def param_of(option: Factor | Option, name: str) -> Param:
    """Return a parameter of an option. Raises: StopIteration."""
    return next(param for param in option.params if param.name == name)


@cache
def read_sentences(path: Path = SENTENCES) -> tuple[Read, ...]:
    """Return every sentence of a set with the items found in it, read as the only answer to a first agent message."""
    return tuple(
        Read(one, read_statements((Message(role="user", turn=0, text=one.user_message),), items_of(one)).stated)
        for one in sentences(path)
    )


def precision_recall(found: Iterable[Read]) -> tuple[float, float]:
    """Return precision and recall over all (sentence, item) pairs."""
    right = claimed = wanted = 0
    for one in found:
        right += len(one.found & one.sentence.stated)
        claimed += len(one.found)
        wanted += len(one.sentence.stated)
    return right / max(claimed, 1), right / max(wanted, 1)


def main() -> int:
    """Print everything."""
    for line in report():
        sys.stdout.write(line + "\n")
    return 0


def report() -> Iterator[str]:
    """Yield the figures and matrices of both halves as lines; cases and sentences are listed from the tuned half alone."""
    for half in HALVES:
        own = half_of(graded(), half)
        for name, one in [*by_dimension(own).items(), ("all", overall(own))]:
            yield f"{name}, {half}: {_figures(one)}"
            yield "  label \\ score  " + "  ".join(f"{level:2d}" for level in LEVELS)
            for level, row in zip(LEVELS, one.confusion, strict=True):
                yield f"  {level:13d}  " + "  ".join(f"{count:2d}" for count in row)
    for name, one in [*by_dimension(graded()).items(), ("all", overall(graded()))]:
        yield f"{name}, both: {_figures(one)}"
    yield f"without a score: {sum(one.score is None for one in graded())}"
    yield "not as labelled, tuned half:"
    for found in half_of(graded(), "tuned"):
        if found.score is not None and found.score != found.case.label:
            far = " !" if abs(found.score - found.case.label) >= FAR else ""
            yield f"  {found.case.id} ({found.case.dimension}) label {found.case.label} score {found.score}{far}"
            yield f"    label: {found.case.why}"
            yield f"    score: {' '.join(found.reason.split())[:300]}"
    yield from _statements()


def _figures(one: Agreement) -> str:
    return (
        f"{int(one.confusion.sum())} cases, exact {one.exact:.2f}, same veto {one.veto:.2f}, "
        f"kappa {one.kappa:.2f}, quadratic {one.weighted:.2f}"
    )


def _statements() -> Iterator[str]:
    for half in HALVES:
        precision, recall = precision_recall(half_of(read_sentences(), half))
        yield f"S, {half}: precision {precision:.2f}, recall {recall:.2f}"
    for path in (SENTENCES, *KNOWN):
        precision, recall = precision_recall(read_sentences(path))
        name = path.relative_to(FOLDER.parent)
        yield f"S, {name}: {len(sentences(path))} sentences, precision {precision:.2f}, recall {recall:.2f}"
    for one in half_of(read_sentences(), "tuned"):
        extra, lost = sorted(one.found - one.sentence.stated), sorted(one.sentence.stated - one.found)
        if extra or lost:
            yield f"  {one.sentence.user_message!r} extra {extra} missed {lost}"


if __name__ == "__main__":
    sys.exit(main())
