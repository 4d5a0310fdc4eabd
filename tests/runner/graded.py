"""A finished attempt on disk and the evaluator run in this process, for tests of whole gradings."""

from dataclasses import dataclass
from pathlib import Path

from evaluator.__main__ import main
from records.paths import AttemptPaths
from runner.grade import Grading
from runner.grading import Grader
from runner.judging import Judge
from sandbox.job import Job, JobResult
from tests.evaluator.deliveries import Delivered, strategy


@dataclass
class InProcess:
    """Runs the evaluator's command line here, with each mount's source in the place of its target."""

    def run(self, job: Job) -> JobResult:
        places = {str(mount.target): str(mount.source) for mount in job.mounts}
        code = main([places.get(word, word) for word in job.argv[3:]])
        return JobResult(code, timed_out=False, oom_killed=False, duration_s=0.1, stdout=b"", stderr=b"")


def finished(delivered: Delivered, root: Path) -> AttemptPaths:
    """Write an attempt that ended satisfied."""
    delivered.write(root)
    paths = AttemptPaths(root)
    paths.sealed.mkdir()
    paths.strategy.write_text(strategy().to_json(), encoding="utf-8")
    return paths


def how(judge: Judge) -> Grading:
    return Grading(Grader(InProcess(), "evaluator:1"), "v1", judge, user="rules")
