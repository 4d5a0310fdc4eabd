"""A job: one command in a container of its own. Each limit is first seen not to bite under a wider one."""

from pathlib import Path, PurePosixPath

import pytest

from records.errors import PrerequisiteError, StartError
from records.limits import MIB
from sandbox.engine.engine import Engine
from sandbox.engine.oneshot import DockerJobs
from sandbox.job import Job, JobResult, Mount

pytestmark = pytest.mark.docker

BASE = "fincosmos/base"
FORTY_MIB = "block = bytearray(40 << 20); print(len(block))"
FORK_40 = """
import os, time
for made in range(40):
    try:
        if os.fork() == 0:
            time.sleep(30)
    except BlockingIOError:
        break
else:
    made = 40
print(made, flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def jobs(engine: Engine) -> DockerJobs:
    return DockerJobs(engine.client)


def _shell(jobs: DockerJobs, script: str, *, mounts: tuple[Mount, ...] = (), output_bytes: int = MIB) -> JobResult:
    argv = ("bash", "-c", script)
    return jobs.run(Job(image=BASE, argv=argv, timeout_s=30, mounts=mounts, output_bytes=output_bytes))


def _ours(engine: Engine, word: str) -> list[str]:
    listed = engine.client.api.containers(all=True, filters={"label": f"test.oneshot={word}"})
    return [str(found["Id"]) for found in listed]


def test_command_then_its_exit_code_and_both_streams_apart(jobs: DockerJobs) -> None:
    result = _shell(jobs, "id -u; id -g; echo told >&2; exit 3")

    assert (result.exit_code, result.stdout, result.stderr) == (3, b"1000\n1000\n", b"told\n")
    assert (result.timed_out, result.oom_killed) == (False, False)


def test_program_that_is_not_there_then_127(jobs: DockerJobs) -> None:
    assert jobs.run(Job(image=BASE, argv=("nothing-here",), timeout_s=30)).exit_code == 127


def test_box_then_only_loopback_no_capability_and_a_read_only_root(jobs: DockerJobs) -> None:
    result = _shell(
        jobs, "ls /sys/class/net; grep -h Cap /proc/self/status; grep NoNewPrivs /proc/self/status; touch /new"
    )

    lines = result.stdout.decode().split("\n")
    assert lines[0] == "lo"
    assert {line.split()[1] for line in lines if line.startswith("Cap")} == {"0" * 16}
    assert "NoNewPrivs:\t1" in lines
    assert b"Read-only file system" in result.stderr


def test_name_of_a_host_then_it_does_not_resolve(jobs: DockerJobs) -> None:
    result = _shell(jobs, "getent hosts deb.debian.org || echo no name; curl -sS --max-time 3 http://1.1.1.1/")

    assert result.stdout == b"no name\n"
    assert result.exit_code == 7


def test_more_memory_than_allowed_then_killed_as_data(jobs: DockerJobs) -> None:
    argv = ("python3", "-c", FORTY_MIB)

    within = jobs.run(Job(image=BASE, argv=argv, timeout_s=30, memory_bytes=128 * MIB))
    beyond = jobs.run(Job(image=BASE, argv=argv, timeout_s=30, memory_bytes=32 * MIB))

    assert (within.exit_code, within.oom_killed) == (0, False)
    assert (beyond.exit_code, beyond.oom_killed, beyond.timed_out) == (137, True, False)


def test_more_processes_than_allowed_then_forking_is_refused(jobs: DockerJobs) -> None:
    argv = ("python3", "-c", FORK_40)

    within = jobs.run(Job(image=BASE, argv=argv, timeout_s=30, pids=128))
    beyond = jobs.run(Job(image=BASE, argv=argv, timeout_s=30, pids=16))

    assert within.stdout == b"40\n"
    assert 5 < int(beyond.stdout) < 16


def test_time_runs_out_then_killed_and_gone(jobs: DockerJobs, engine: Engine) -> None:
    script = "trap '' TERM INT; echo begun; sleep 60 & setsid sleep 60 & wait; wait"
    result = jobs.run(Job(image=BASE, argv=("bash", "-c", script), timeout_s=1, labels={"test.oneshot": "time"}))

    assert (result.timed_out, result.exit_code, result.stdout) == (True, None, b"begun\n")
    assert _ours(engine, "time") == []


def test_flood_of_output_then_head_and_tail_are_kept_and_the_rest_counted(jobs: DockerJobs) -> None:
    result = _shell(jobs, "echo first; yes | head -c 3000000; echo last", output_bytes=10_000)

    assert result.stdout.startswith(b"first\n")
    assert result.stdout.endswith(b"last\n")
    assert len(result.stdout) < 10_100
    assert 2_980_000 < result.stdout_missing < 3_000_100


def test_mounts_then_one_is_read_only_and_one_is_not(jobs: DockerJobs, tmp_path: Path) -> None:
    given, taken = tmp_path / "given", tmp_path / "taken"
    for folder in (given, taken):
        folder.mkdir(mode=0o777)
        folder.chmod(0o777)
    (given / "a").write_text("from outside", encoding="utf-8")

    result = _shell(
        jobs,
        "cat /in/a > /out/b; touch /in/c",
        mounts=(Mount(given, PurePosixPath("/in")), Mount(taken, PurePosixPath("/out"), writable=True)),
    )

    assert (taken / "b").read_text(encoding="utf-8") == "from outside"
    assert b"Read-only file system" in result.stderr
    assert not (given / "c").exists()


def test_mount_that_is_not_there_then_nothing_is_started(jobs: DockerJobs, engine: Engine, tmp_path: Path) -> None:
    mount = Mount(tmp_path / "none", PurePosixPath("/in"))

    with pytest.raises(StartError, match=r"mount .*/none for /in is not there"):
        jobs.run(Job(image=BASE, argv=("true",), timeout_s=5, mounts=(mount,), labels={"test.oneshot": "mount"}))

    assert _ours(engine, "mount") == []


def test_image_that_is_not_built_then_the_sentence_says_how(jobs: DockerJobs) -> None:
    with pytest.raises(PrerequisiteError, match=r"image 'fincosmos/none:1' is not built; run: runner images build"):
        jobs.run(Job(image="fincosmos/none:1", argv=("true",), timeout_s=5))


def test_command_the_engine_refuses_then_start_error_and_nothing_is_left(jobs: DockerJobs, engine: Engine) -> None:
    job = Job(image=BASE, argv=("true",), timeout_s=5, user="nobody-here:none", labels={"test.oneshot": "user"})

    with pytest.raises(StartError, match="start a job"):
        jobs.run(job)

    assert _ours(engine, "user") == []
