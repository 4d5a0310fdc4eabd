"""run.json: what was planned and under which conditions, written once before the first session."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from records.base import Record
from records.task import Conditions

FmpTools = Literal["flat", "grouped"]


class PlannedCell(Record):
    """One session cell: an agent meets a task for the k-th time."""

    agent: str
    seed: int
    task_id: str
    repeat: int = Field(ge=1)


class RunRecord(Record):
    """Everything needed to say what a run measured; no key and no strategy."""

    schema_version: Literal[1] = 1
    run_id: str
    created_at: datetime
    cells: tuple[PlannedCell, ...]
    conditions: Conditions
    offline: bool
    private_salt: bool = Field(default=False, description="tasks were drawn under a salt of the operator's own")
    fmp_tools: FmpTools = Field(default="flat", description="one tool per endpoint (245), or 27 with an `endpoint`")
    engine: str
    concurrency: int
    agents: dict[str, str] = Field(description="agent -> model id, 'none' for a control")
    user: str = Field(description="'rules' or 'llm:<model>'")
    user_prompt_sha256: str = Field(
        default="", description="of its prompt's texts; empty for a user that is told nothing"
    )
    judge: str = Field(description="'none', 'rules' or 'llm:<model>'")
    judge_prompt_sha256: str = Field(default="", description="of templates and anchors; empty where no model judges")
    images: dict[str, str] = Field(description="image -> id the engine gave it")
    workspace_cap: str = Field(
        default="", description="whether the boxes' workspace limit is enforced; empty in old runs"
    )
    instruction_sha256: str
    limits_sha256: str
    grammar_sha256: str
    evaluator_version: str
    versions: dict[str, str] = Field(description="package -> version, python and engine included")
    stand_ins: tuple[str, ...] = Field(default=(), description="one sentence per stand-in in use; empty for a live run")

    @property
    def is_ranked(self) -> bool:
        """Whether results may stand on a leaderboard: no stand-in, and a model as judge."""
        return not self.stand_ins and self.judge.startswith("llm:")
