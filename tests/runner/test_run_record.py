import errno
from datetime import UTC, datetime
from pathlib import Path

import pytest

from records.errors import PrerequisiteError, UsageError
from records.limits import DEFAULT_LIMITS
from records.run import FmpTools, RunRecord
from runner import launch, preflight, wiring
from runner.judging import Judge
from runner.order import Order, UserKind, resolve


class Machine:
    """A machine whose workspaces are watched only."""

    def engine_version(self) -> str:
        return "20.10.24"

    def image_ids(self, names: object) -> dict[str, str]:
        return {str(name): "sha256:0" for name in names}  # type: ignore[attr-defined]

    def free_disk(self) -> int:
        return 0

    def workspace_cap(self) -> str:
        return "soft: watched, not enforced"


def test_machine_with_a_soft_cap_then_the_run_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "offline_data", lambda _say: tmp_path)
    order = Order(agents="null", seeds="6", offline=True, out=tmp_path / "run")
    plan = resolve(order, known=wiring.AGENTS, now=datetime(2026, 1, 1, tzinfo=UTC))

    paths = launch._make_run(plan, launch.look(plan, Machine(), lambda _line: None), DEFAULT_LIMITS, Judge("rules"))

    assert RunRecord.model_validate_json(paths.run.read_bytes()).workspace_cap == "soft: watched, not enforced"


def test_record_that_cannot_be_written_then_no_folder_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *_args: object, **_options: object) -> int:
        path.write_bytes(b"{")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(wiring, "offline_data", lambda _say: tmp_path)
    plan = resolve(
        Order(agents="null", seeds="6", offline=True, out=tmp_path / "run"),
        known=wiring.AGENTS,
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )
    ground = launch.look(plan, Machine(), lambda _line: None)
    monkeypatch.setattr(Path, "write_text", full)

    with pytest.raises(UsageError, match="No space left on device"):
        launch._make_run(plan, ground, DEFAULT_LIMITS, Judge("rules"))

    assert list(tmp_path.iterdir()) == []


def test_folder_of_someone_else_is_refused_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiring, "offline_data", lambda _say: tmp_path)
    plan = resolve(
        Order(agents="null", seeds="6", offline=True, out=tmp_path / "run"),
        known=wiring.AGENTS,
        now=datetime(2026, 1, 1, tzinfo=UTC),
    )
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "theirs").write_text("x", encoding="utf-8")

    with pytest.raises(UsageError, match="File exists"):
        launch._make_run(plan, launch.look(plan, Machine(), lambda _line: None), DEFAULT_LIMITS, Judge("rules"))

    assert (tmp_path / "run" / "theirs").exists()


@pytest.mark.parametrize("shape", ["flat", "grouped"])
def test_shape_of_the_data_tools_is_in_the_run_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shape: FmpTools
) -> None:
    monkeypatch.setattr(wiring, "offline_data", lambda _say: tmp_path)
    order = Order(agents="null", seeds="6", offline=True, out=tmp_path / "run", fmp_tools=shape)
    plan = resolve(order, known=wiring.AGENTS, now=datetime(2026, 1, 1, tzinfo=UTC))

    paths = launch._make_run(plan, launch.look(plan, Machine(), lambda _line: None), DEFAULT_LIMITS, Judge("rules"))

    assert RunRecord.model_validate_json(paths.run.read_bytes()).fmp_tools == shape


def test_engine_whose_disk_is_full_then_refused_in_one_sentence() -> None:
    with pytest.raises(PrerequisiteError, match=r"expected 3\.0 GiB free, found 0\.0 GiB; free some space"):
        preflight.check_engine_disk(Machine(), DEFAULT_LIMITS)


@pytest.mark.parametrize(("user", "name", "hashed"), [("rules", "rules", False), ("llm", "llm:claude-opus-4-8", True)])
def test_user_stands_in_the_record_with_its_model_and_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: UserKind, name: str, *, hashed: bool
) -> None:
    monkeypatch.setattr(wiring, "offline_data", lambda _say: tmp_path)
    order = Order(agents="null", seeds="6", offline=True, out=tmp_path / "run", user=user)
    plan = resolve(order, known=wiring.AGENTS, now=datetime(2026, 1, 1, tzinfo=UTC))

    paths = launch._make_run(plan, launch.look(plan, Machine(), lambda _line: None), DEFAULT_LIMITS)

    record = RunRecord.model_validate_json(paths.run.read_bytes())
    assert record.user == name
    assert (len(record.user_prompt_sha256) == 64) is hashed


def test_user_llm_without_a_key_is_missing_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ANTHROPIC_API_KEY", "FINCOSMOS_MODEL_KEY"):
        monkeypatch.delenv(variable, raising=False)
    order = Order(agents="null", seeds="6", offline=True, out=tmp_path / "run", user="llm")
    plan = resolve(order, known=wiring.AGENTS, now=datetime(2026, 1, 1, tzinfo=UTC))

    missing = preflight.what_is_missing(launch.checks(plan, Machine(), DEFAULT_LIMITS))

    assert "user `llm` and judge `llm` need it" in missing[0]
