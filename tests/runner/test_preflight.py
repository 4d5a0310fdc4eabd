from pathlib import Path

import httpx
import pytest

from records.errors import EvalError, PrerequisiteError, UsageError
from records.limits import Limits
from runner.preflight import check_disk, check_key, check_key_accepted, check_out, what_is_missing

BASE = "https://data.example/stable"


def service(answer: httpx.Response | Exception, seen: list[httpx.Request] | None = None) -> httpx.Client:
    def reply(request: httpx.Request) -> httpx.Response:
        if seen is not None:
            seen.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer

    return httpx.Client(transport=httpx.MockTransport(reply))


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


@pytest.mark.parametrize("status", [401, 403])
def test_refused_key_is_said_without_the_key(status: int) -> None:
    with service(httpx.Response(status)) as client, pytest.raises(PrerequisiteError, match="was refused") as caught:
        check_key_accepted(BASE, "SECRET", client=client)

    assert "SECRET" not in str(caught.value)


def test_key_travels_in_a_header_and_never_in_the_address() -> None:
    seen: list[httpx.Request] = []
    with service(httpx.Response(200, json=[]), seen) as client:
        check_key_accepted(BASE, "SECRET", client=client)

    assert seen[0].headers["apikey"] == "SECRET"
    assert "SECRET" not in str(seen[0].url)


@pytest.mark.parametrize("answer", [httpx.ConnectError("refused"), httpx.Response(503)])
def test_service_that_does_not_answer_is_a_missing_prerequisite(answer: httpx.Response | Exception) -> None:
    with service(answer) as client, pytest.raises(PrerequisiteError, match="expected an answer"):
        check_key_accepted(BASE, "SECRET", client=client)


def test_dry_run_collects_every_missing_thing_in_order() -> None:
    def fail(error: EvalError) -> None:
        raise error

    missing = what_is_missing(
        [lambda: fail(PrerequisiteError("no engine")), lambda: None, lambda: fail(UsageError("exists"))]
    )

    assert missing == ["no engine", "exists"]
