"""What the rules judge says of a whole session of the reference agent."""

import json
import shutil
from pathlib import Path

import pytest
from conftest import SIX, SIX_ANSWER

from evaluator.judge.rules.run import find_all
from evaluator.judge.settle import settle
from evaluator.measure.case import Case
from evaluator.package.attempt import load_delivery
from tests.evaluator.deliveries import write_session

pytestmark = pytest.mark.slow  # a whole session outside a box


def test_reference_session_passes_every_veto_of_meaning(session: tuple[Path, list[str]], tmp_path: Path) -> None:
    workspace, replies = session
    public = tmp_path / "public"
    shutil.copytree(workspace / "deliver", public / "turns" / "2" / "deliver")
    write_session(public, list(zip((SIX, SIX_ANSWER), replies, strict=True)))
    task = json.loads((public / "task.json").read_text())
    task["conditions"]["t_cut"] = "2016-06-30"
    (public / "task.json").write_text(json.dumps(task))

    judged = {found.dimension: settle(found) for found in find_all(Case(load_delivery(public))).findings}

    for dimension in ("2.7", "4.1", "5.1", "5.6"):
        assert judged[dimension].score == 4, judged[dimension].reason
    low = {dimension: j.reason for dimension, j in judged.items() if j.score is not None and j.score < 3}
    assert set(low) == {"1.3"}, low  # the offline service is one vendor
