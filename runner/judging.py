"""Lets a judge of meaning speak during grading: whose calls go out, how many at a time, and what a silent service means."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from evaluator.compare.asking import ask_items
from evaluator.compare.question import ItemFindings, ItemQuestions
from evaluator.judge.contract import ask, judge_name
from evaluator.judge.prompts import prompt_sha256
from evaluator.judge.question import Questions
from records.chat import ChatModel
from records.errors import GradingError, ModelError
from records.judging import Findings

JudgeKind = Literal["none", "rules", "llm"]
DEFAULT_MODEL = "claude-opus-5-5"
"""Of the judge (architecture, section 7)."""

_Q = TypeVar("_Q")
_F = TypeVar("_F")


def _go_on() -> None:
    """Nobody stops this grading."""


@dataclass(frozen=True)
class Judge:
    """Who judges meaning in the gradings of a run."""

    kind: JudgeKind = "rules"
    model_id: str = DEFAULT_MODEL
    """Unused but for 'llm'."""
    open_model: Callable[[Path], ChatModel] | None = None
    """Takes the file under sealed/ in which calls are logged; returns the model. None but for 'llm'."""
    calls: int = 4
    """Calls of one grading at a time."""
    check: Callable[[], None] = _go_on
    """Called before each call; raises to stop."""

    @property
    def name(self) -> str:
        """How it is named in every output: 'none', 'rules' or 'llm:<model>'."""
        return judge_name(self.model_id) if self.kind == "llm" else self.kind

    @property
    def prompt_sha256(self) -> str:
        """Hash of all that it may be told; empty for a judge that is told nothing."""
        return prompt_sha256() if self.kind == "llm" else ""

    def on_delivery(self, questions: Questions, *, log_to: Path) -> Findings:
        """Return a finding on each dimension of meaning. Raises GradingError: the model's service did not answer."""
        model = self._open(log_to)
        return Findings(
            findings=self._all(
                questions.questions,
                lambda question: ask(model, questions, question, model_id=self.model_id),
                "the delivery",
            )
        )

    def on_items(self, questions: ItemQuestions, *, log_to: Path) -> ItemFindings:
        """Return findings on the strategy's items. Raises GradingError: the model's service did not answer."""
        model = self._open(log_to)
        return ItemFindings(
            findings=self._all(
                questions.questions,
                lambda question: ask_items(model, questions, question, model_id=self.model_id),
                "the strategy",
            )
        )

    def _open(self, log_to: Path) -> ChatModel:
        if self.open_model is None:
            raise GradingError(f"judge {self.name}: expected a model to ask, found none; run: runner grade --judge llm")
        return self.open_model(log_to)

    def _all(self, questions: Sequence[_Q], put: Callable[[_Q], _F], on: str) -> tuple[_F, ...]:
        """Ask everything and return the findings in the order of the questions.

        The first question goes alone: it writes the cache of the prefix that the others then read. A ModelError holds
        neither key nor prompt, so its sentence may be said.
        """

        def one(question: _Q) -> _F:
            self.check()
            return put(question)

        try:
            first = [one(question) for question in questions[:1]]
            pool = ThreadPoolExecutor(max_workers=self.calls, thread_name_prefix="judge")
            try:
                return (*first, *pool.map(one, questions[1:]))
            finally:
                pool.shutdown(cancel_futures=True)
        except ModelError as error:
            raise GradingError(
                f"judge {self.name} did not answer on {on}: {error}; the capture is kept, run: runner grade --judge llm"
            ) from error
