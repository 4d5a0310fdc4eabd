"""The run directory as code (architecture section 6).

runs/<run-id>/
  run.json  events.jsonl  sealed/{model.log,model-calls.jsonl}
  sessions/<agent>/<task-id>/repeat-<k>/attempt-<a>/
    public/  task.json session.jsonl turns/<t>/{message.md,deliver/,agent.jsonl,stdout,stderr}
             workspace.tar.zst capture.json calls.jsonl rerun.json rerun/ manifest.json bodies/<sha256>
    sealed/  strategy.json manifest-salt decisions.jsonl model-calls.jsonl compare-stderr.txt
             <grading>/{compare-judgements.json,compare-evidence.json,compare-questions.json,compare-findings.json}
    graded/<grading>/ spec.json judgements.json measured.json compared.json grade.json feedback.json turns.json
             questions.json findings.json

<grading> is <evaluator-version>.<judge>: 3f0c9a1be2d47756.rules, 3f0c9a1be2d47756.llm-claude-opus-5-5
"""

import re
from dataclasses import dataclass
from pathlib import Path


def grading_name(evaluator_version: str, judge: str) -> str:
    """Return the folder name that tells a grading by version and judge ('none', 'rules', 'llm:<model>')."""
    return f"{evaluator_version}.{re.sub(r'[^A-Za-z0-9._-]', '-', judge)}"


@dataclass(frozen=True)
class GradedPaths:
    """One grading of one attempt."""

    root: Path

    @property
    def spec(self) -> Path:
        """The delivered specification."""
        return self.root / "spec.json"

    @property
    def measured(self) -> Path:
        """Judgements and facts that need no strategy."""
        return self.root / "measured.json"

    @property
    def judgements(self) -> Path:
        """The judgements alone."""
        return self.root / "judgements.json"

    @property
    def questions(self) -> Path:
        """What a model judge was asked; only where one was."""
        return self.root / "questions.json"

    @property
    def findings(self) -> Path:
        """What a judge of meaning found, with every answer of a model."""
        return self.root / "findings.json"

    @property
    def compared(self) -> Path:
        """Scores of 2.1-2.6, coverage and assumption rate."""
        return self.root / "compared.json"

    @property
    def grade(self) -> Path:
        """The grade."""
        return self.root / "grade.json"

    @property
    def feedback(self) -> Path:
        """The leak-free report."""
        return self.root / "feedback.json"

    @property
    def turns(self) -> Path:
        """Program scores after each turn."""
        return self.root / "turns.json"


@dataclass(frozen=True)
class AttemptPaths:
    """One attempt of a session cell."""

    root: Path

    @property
    def public(self) -> Path:
        """What agent and auditor may see."""
        return self.root / "public"

    @property
    def sealed(self) -> Path:
        """Strategy, user decisions, compare's quotes and verdicts."""
        return self.root / "sealed"

    @property
    def graded(self) -> Path:
        """One folder per grading."""
        return self.root / "graded"

    @property
    def task(self) -> Path:
        """The public task record."""
        return self.public / "task.json"

    @property
    def session(self) -> Path:
        """The session's events."""
        return self.public / "session.jsonl"

    @property
    def calls(self) -> Path:
        """The gateway's call log of this attempt."""
        return self.public / "calls.jsonl"

    @property
    def bodies(self) -> Path:
        """Bodies of data calls by hash."""
        return self.public / "bodies"

    @property
    def workspace(self) -> Path:
        """The whole workspace at the end."""
        return self.public / "workspace.tar.zst"

    @property
    def capture(self) -> Path:
        """What the workspace capture kept, with hashes, and what it refused."""
        return self.public / "capture.json"

    @property
    def rerun(self) -> Path:
        """What became of the delivered code when it was run again; written last, after the files it made."""
        return self.public / "rerun.json"

    @property
    def rerun_files(self) -> Path:
        """What that run made or changed, as in its workspace."""
        return self.public / "rerun"

    @property
    def manifest(self) -> Path:
        """Hashes of all public files."""
        return self.public / "manifest.json"

    @property
    def strategy(self) -> Path:
        """The sealed strategy."""
        return self.sealed / "strategy.json"

    @property
    def manifest_salt(self) -> Path:
        """The salt of the strategy's hash in the manifest; public, it would let strategies be tried against the hash."""
        return self.sealed / "manifest-salt"

    @property
    def decisions(self) -> Path:
        """The simulated user's decisions."""
        return self.sealed / "decisions.jsonl"

    @property
    def model_calls(self) -> Path:
        """Every call of the simulated user or the judge to its model, whole; made when there is one."""
        return self.sealed / "model-calls.jsonl"

    def turn(self, turn: int) -> Path:
        """The folder of agent turn `turn`, counted from 1."""
        return self.public / "turns" / str(turn)

    def deliver(self, turn: int) -> Path:
        """What lay in /workspace/deliver when the turn ended."""
        return self.turn(turn) / "deliver"

    def grading(self, name: str) -> GradedPaths:
        """The folder of one grading, `grading_name`."""
        return GradedPaths(self.graded / name)


@dataclass(frozen=True)
class RunPaths:
    """One run."""

    root: Path

    @property
    def run(self) -> Path:
        """Plan, conditions, digests and versions."""
        return self.root / "run.json"

    @property
    def events(self) -> Path:
        """The structured log."""
        return self.root / "events.jsonl"

    def attempt(self, agent: str, task_id: str, repeat: int, attempt: int) -> AttemptPaths:
        """The folder of one attempt; repeat and attempt count from 1."""
        cell = self.root / "sessions" / agent / task_id / f"repeat-{repeat}"
        return AttemptPaths(cell / f"attempt-{attempt}")
