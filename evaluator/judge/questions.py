"""Writes the 19 questions on one delivery. Sees no strategy; the same delivery gives the same bytes."""

from evaluator.judge.excerpt import build_package
from evaluator.judge.facts import facts_for
from evaluator.judge.fence import fenced, tag_for
from evaluator.judge.prompts import SYSTEM, model_dimensions, prompt_sha256, question_text
from evaluator.judge.question import Question, Questions
from evaluator.measure.case import Case
from evaluator.package.delivery import Delivery


def build_questions(delivery: Delivery) -> Questions:
    """Return one question per dimension of meaning, with the package they share and the texts to find quotes in."""
    package = build_package(delivery)
    case = Case(delivery)
    questions = []
    for number, dimension in enumerate(model_dimensions(), start=1):
        facts = facts_for(dimension.id, case)
        shown = fenced(facts, tag_for(facts, number=number)) if facts else ""
        questions.append(Question(dimension=dimension.id, text=question_text(dimension, shown)))
    return Questions(
        prompt_sha256=prompt_sha256(),
        system=SYSTEM,
        package=package.text,
        questions=tuple(questions),
        documents=package.documents,
    )
