from pathlib import Path

import pytest

from records.errors import EvalError, PrerequisiteError, UsageError
from records.limits import Limits
from runner.preflight import check_disk, check_key, check_out, what_is_missing


def test_run_directory_that_exists_is_never_written_over(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="exists"):
        check_out(tmp_path)


def test_run_directory_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    with pytest.raises(UsageError, match="is a file"):
        check_out(tmp_path / "file" / "run")


def test_dangling_link_is_no_free_name(tmp_path: Path) -> None:
    (tmp_path / "run").symlink_to(tmp_path / "nowhere")

    with pytest.raises(UsageError, match="exists"):
        check_out(tmp_path / "run")


def test_free_name_below_folders_that_do_not_exist_yet_is_fine_and_makes_none(tmp_path: Path) -> None:
    check_out(tmp_path / "a" / "b")

    assert not (tmp_path / "a").exists()


def test_disk_nearly_full_says_how_much_is_expected_and_found(tmp_path: Path) -> None:
    with pytest.raises(PrerequisiteError, match=r"expected 9765625\.0 GiB free, found"):
        check_disk(tmp_path / "run", Limits(min_free_disk_bytes=9_765_625 * 1024**3))


@pytest.mark.parametrize("environ", [{}, {"FMP_API_KEY": ""}, {"FMP_API_KEY": "  "}])
def test_live_run_without_a_key_names_the_variable(environ: dict[str, str]) -> None:
    with pytest.raises(PrerequisiteError, match="FMP_API_KEY is not set"):
        check_key(environ)


def test_dry_run_collects_every_missing_thing_in_order() -> None:
    def fail(error: EvalError) -> None:
        raise error

    missing = what_is_missing(
        [lambda: fail(PrerequisiteError("no engine")), lambda: None, lambda: fail(UsageError("exists"))]
    )

    assert missing == ["no engine", "exists"]
