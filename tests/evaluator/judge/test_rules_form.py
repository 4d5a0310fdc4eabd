"""The same words in another form get the same level: marks of headings and lists, white space, line ends."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from evaluator.package.delivery import Delivery
from tests.evaluator.judge import other_examples
from tests.evaluator.judge.builders import delivery, finding, level, why
from tests.evaluator.judge.veto_examples import BY_DIMENSION


def _underlined(text: str) -> str:
    return re.sub(r"(?m)^#{1,6} (.+)$", lambda hit: f"{hit[1]}\n{'=' * 12}", text)


def _bold(text: str) -> str:
    return re.sub(r"(?m)^#{1,6} (.+)$", r"**\1**", text)


def _stars(text: str) -> str:
    return re.sub(r"(?m)^- ", "* ", text)


def _dots(text: str) -> str:
    return re.sub(r"(?m)^- ", "• ", text)


def _spaced(text: str) -> str:
    return re.sub(r"(?m)^(#{1,6} .+)$", r"\1\n\n", text).replace(". ", ".  ") + "\n\n\n"


def _crlf(text: str) -> str:
    return text.replace("\n", "\r\n")


FORMS = (_underlined, _bold, _stars, _dots, _spaced, _crlf)
EXAMPLES = [(dimension, example.made) for dimension, examples in BY_DIMENSION.items() for example in examples]
EXAMPLES += [
    (dimension, made)
    for dimension, levels in other_examples.BY_DIMENSION.items()
    for several in levels.values()
    for made in several
]


def _in_form(made: Delivery, form: Callable[[str], str]) -> Delivery:
    documents = tuple(replace(d, text=form(d.text)) if d.kind == "report" else d for d in made.documents)
    messages = tuple(replace(m, text=form(m.text)) if m.role != "user" else m for m in made.messages)
    return replace(made, documents=documents, messages=messages)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__.strip("_"))
def test_form_of_the_text_changes_no_level(form: Callable[[str], str]) -> None:
    changed = []
    for dimension, made in EXAMPLES:
        before, after = level(dimension, made), level(dimension, _in_form(made, form))
        if before != after:
            changed.append(f"{dimension} {before} -> {after}: {why(dimension, _in_form(made, form))}")
    assert not changed, "\n".join(changed)


def test_limitations_under_another_title_are_limitations() -> None:
    made = other_examples.BY_DIMENSION["5.2"][4][0]

    after = _in_form(
        made,
        lambda text: re.sub(r"(?mi)^(#+) (?:risk|limit|caveat|what could).*$", r"\1 What to be careful about", text),
    )

    assert after != made
    assert level("5.2", after) == level("5.2", made) == 4


def test_glossary_without_a_title_defines_its_terms() -> None:
    words = (
        "turnover: value traded in a year, both ways",
        "volatility: spread of the returns around their mean",
        "beta: share of the moves of the index in those of the book",
    )
    report = "# Report\n\nThe turnover was 2.1, the volatility 0.2 and the beta 0.9.\n\n## In other words\n\n"

    defined, not_defined = (
        finding("5.5", delivery(report + "".join(f"- {line}.\n" for line in lines)))
        for lines in (words, ("turnover: 2.1", "volatility: 0.2", "beta: 0.9"))
    )

    assert defined.score == 4
    assert "undefined: beta, turnover, volatility" in not_defined.reason
