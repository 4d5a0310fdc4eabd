"""Program scores after each turn."""

import shutil
from pathlib import Path

import pytest
import zstandard

from evaluator import trajectory as module
from evaluator.__main__ import main
from evaluator.turns import joined
from records.grade import Compared, Judgement, Measured
from records.turns import Turns, TurnScores
from tests.evaluator.deliveries import MESSAGES, clean, strategy, write_session
from tests.evaluator.reruns import write_rerun

pytestmark = pytest.mark.thorough

SAID = [*MESSAGES, ("Thanks.", "You are welcome.")]


@pytest.fixture
def public(tmp_path: Path) -> Path:
    """Three turns: nothing, a delivery without trades, the whole one unchanged since turn 2 but for them."""
    delivered = clean()
    trades = delivered.tables.pop("trades")
    root = delivered.write(tmp_path)
    turns = root / "turns"
    (turns / "1").rename(turns / "2")
    shutil.copytree(turns / "2", turns / "3")
    trades.to_csv(turns / "3" / "deliver" / "trades.csv", index=False, date_format="%Y-%m-%d")
    return write_session(root, SAID)


def run(public: Path, out: Path) -> tuple[Measured, Compared]:
    sealed = out / "sealed"
    sealed.mkdir(parents=True)
    (sealed / "strategy.json").write_text(strategy().to_json(), encoding="utf-8")
    assert main(["measure", "--capture", str(public), "--out", str(out)]) == 0
    arguments = ["--measured", str(out), "--strategy", str(sealed / "strategy.json"), "--out", str(out)]
    assert main(["compare", "--capture", str(public), *arguments, "--sealed-out", str(sealed)]) == 0
    return (
        Measured.model_validate_json((out / "measured.json").read_bytes()),
        Compared.model_validate_json((out / "compared.json").read_bytes()),
    )


def final(measured: Measured, compared: Compared) -> dict[str, int | None]:
    judgements = (*measured.judgements, *compared.judgements)
    return {
        found.dimension: found.score
        for found in judgements
        if found.source in ("program", "compare") and found.status != "not_run"
    }


def test_scores_rise_with_what_is_there_and_the_last_are_the_final_ones(public: Path, tmp_path: Path) -> None:
    measured, compared = run(public, tmp_path / "out")

    first, second, third = joined(measured, compared).turns
    assert [first.turn, second.turn, third.turn] == [1, 2, 3]
    assert third.scores == final(measured, compared)
    assert (first.scores["3.2"], third.scores["3.2"]) == (0, 4)
    assert (first.scores["2.1"], third.scores["2.1"]) == (0, 4)
    assert second.scores["3.8"] is not None
    assert first.scores["3.8"] == 0 < second.scores["3.8"] < 4
    assert {"2.1", "3.2", "3.8"} <= set(first.failed_vetoes)
    assert third.failed_vetoes == ()


def test_archive_and_rerun_show_in_the_last_turn_alone(public: Path, tmp_path: Path) -> None:
    import io  # noqa: PLC0415
    import tarfile  # noqa: PLC0415

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        body = b"date,symbol,close\n2020-01-02,AAA,1\n2020-01-03,AAA,1\n"
        head = tarfile.TarInfo("late.csv")
        head.size = len(body)
        tar.addfile(head, io.BytesIO(body))
    (public / "workspace.tar.zst").write_bytes(zstandard.compress(packed.getvalue()))
    write_rerun(public, {"trades": clean().tables["trades"], "equity": clean().tables["equity"]})

    measured, compared = run(public, tmp_path / "out")

    _, second, third = joined(measured, compared).turns
    assert third.scores == final(measured, compared)
    assert (second.scores["3.6"], third.scores["3.6"]) == (None, 4)
    assert second.scores["1.1"] is not None
    assert third.scores["1.1"] is not None
    assert third.scores["1.1"] < second.scores["1.1"]


def test_turn_that_changes_no_file_is_not_graded_again(public: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = public / "turns"
    shutil.copytree(turns / "3", turns / "4")
    shutil.copytree(turns / "3", turns / "5")
    write_session(public, [*SAID, ("More?", "No."), ("Really?", "No.")])
    loaded: list[int | None] = []
    load = module.load_delivery
    monkeypatch.setattr(
        module,
        "load_delivery",
        lambda root, *, up_to_turn: (loaded.append(up_to_turn), load(root, up_to_turn=up_to_turn))[1],
    )
    last = Judgement(dimension="3.2", source="program", status="scored", score=4)

    entries = module.trajectory(
        public, [1, 2, 3, 4, 5], [last], lambda delivery: [last.model_copy(update={"score": 1})]
    )

    assert loaded == [1, 2, 3]
    assert [(entry.turn, entry.scores["3.2"]) for entry in entries] == [(1, 1), (2, 1), (3, 1), (4, 1), (5, 4)]


def test_no_agent_turn_then_no_entry(tmp_path: Path) -> None:
    assert module.trajectory(tmp_path, [], [], lambda delivery: []) == ()
    assert joined(Measured(judgements=()), _compared(())) == Turns(turns=())


def test_dimension_on_which_a_judge_spoke_later_is_no_part_of_the_trajectory() -> None:
    entry = TurnScores(turn=1, scores={"3.2": 4, "4.1": 3}, failed_vetoes=("4.1",))
    measured = Measured(
        judgements=(
            Judgement(dimension="3.2", source="program", status="scored", score=4),
            Judgement(dimension="4.1", source="judge=llm:m", status="scored", score=1),
        ),
        turns=(entry,),
    )

    (found,) = joined(measured, _compared((TurnScores(turn=1, scores={"2.1": 1}, failed_vetoes=("2.1",)),))).turns

    assert list(found.scores.items()) == [("2.1", 1), ("3.2", 4)]
    assert found.failed_vetoes == ("2.1",)


def _compared(turns: tuple[TurnScores, ...]) -> Compared:
    return Compared(
        judgements=(), items=1, opening=1, stated=1, clarification_coverage=None, assumption_rate=None, turns=turns
    )
