"""Builds runs on disk for the tests of reports; only what a table reads."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from records.grade import Grade
from records.jsonl import append_line
from records.paths import AttemptPaths, RunPaths
from records.run import PlannedCell, RunRecord
from records.session import AgentEvent, EndEvent, EndReason, UserEvent
from records.task import Conditions

START = datetime(2026, 1, 1, tzinfo=UTC)


def run_record(*cells: tuple[str, int], stand_ins: tuple[str, ...] = ("FMP API: stand-in",)) -> RunRecord:
    return RunRecord(
        run_id="r1",
        created_at=START,
        cells=tuple(PlannedCell(agent=agent, seed=seed, task_id=f"task-{seed}", repeat=1) for agent, seed in cells),
        conditions=Conditions(t_cut=date(2021, 12, 31), start_hint=date(2013, 1, 2), channels=("fmp-mcp",)),
        offline=True,
        engine="local",
        concurrency=2,
        agents=dict.fromkeys((agent for agent, _ in cells), "none"),
        user="rules",
        judge="none",
        images={},
        instruction_sha256="0" * 64,
        limits_sha256="0" * 64,
        grammar_sha256="0" * 64,
        evaluator_version="v1",
        versions={},
        stand_ins=stand_ins,
    )


def write_run(root: Path, record: RunRecord) -> RunPaths:
    paths = RunPaths(root)
    root.mkdir(parents=True)
    paths.run.write_text(record.to_json(), encoding="utf-8")
    return paths


def write_attempt(
    paths: AttemptPaths, reason: EndReason | None, *, seconds: float = 10, cut: bool = False, turns: int = 1
) -> None:
    paths.public.mkdir(parents=True)
    append_line(paths.session, UserEvent(turn=0, at=START, text="hi").to_json())
    for turn in range(1, turns + 1):
        event = AgentEvent(turn=turn, started_at=START, ended_at=START, text="hello", cut=cut)
        append_line(paths.session, event.to_json())
    if reason is not None:
        append_line(paths.session, EndEvent(at=START + timedelta(seconds=seconds), reason=reason).to_json())


def grade(**changes: object) -> Grade:
    values: dict[str, object] = {
        "evaluator_version": "v1",
        "judge": "none",
        "user": "rules",
        "end_reason": EndReason.SATISFIED,
        "quality": 80.0,
        "categories": {"data": 100.0, "strategy": 60.0, "backtest": None, "assessment": None, "user_experience": None},
        "vetoes": {"1.1": "pass", "2.7": "not_run"},
        "scores": {"1.1": 4, "2.7": None},
        "score": None,
        "grading_complete": False,
        "accepted": False,
        "engine": "container",
    }
    return Grade.model_validate(values | changes)


def write_grade(paths: AttemptPaths, record: Grade) -> None:
    graded = paths.grading(record.evaluator_version)
    graded.root.mkdir(parents=True)
    graded.grade.write_text(record.to_json(), encoding="utf-8")
