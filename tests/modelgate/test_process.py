"""The process's life: it ends with its launcher, its key stays where it belongs, a wrong key is said before a run."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from modelgate.client import Client
from modelgate.process import Access, find_access, open_models, without_keys
from records.errors import ModelError, PrerequisiteError
from tests.anthropic_server import KEY, AnthropicServer, failing, good, in_turn, text
from tests.modelgate.conftest import QUICK, Opened, request
from tests.processes import wait_until_gone

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[2]
PARENT = """
import sys, time
from pathlib import Path
from modelgate.process import Access, open_models
with open_models(Access("k-secret", "ANTHROPIC_API_KEY", "http://127.0.0.1:9"), log_to=Path(sys.argv[1])) as models:
    print(models.process.pid, flush=True)
    time.sleep(60)
"""


def test_process_ends_with_its_block_and_leaves_nothing(tmp_path: Path) -> None:
    access = Access("k-secret", "ANTHROPIC_API_KEY", "http://127.0.0.1:9")
    with open_models(access, log_to=tmp_path / "sealed" / "model.log") as models:
        folder = models.client.path.parent
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert stat.S_IMODE(models.client.path.stat().st_mode) & 0o077 == 0
        assert models.is_alive
    assert models.process.returncode == 0
    assert not folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_process_dies_with_a_killed_launcher(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path / "log")]
    parent = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    with parent:
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert wait_until_gone(child)


def test_key_is_in_the_environment_of_its_process_alone(opened: Opened) -> None:
    _, models = opened(in_turn(good({})))

    assert KEY.encode() in Path(f"/proc/{models.process.pid}/environ").read_bytes()
    assert KEY.encode() not in Path(f"/proc/{models.process.pid}/cmdline").read_bytes()
    assert KEY not in str(dict(os.environ))


def test_environment_of_the_launcher_loses_key_and_address_while_the_block_runs() -> None:
    before = {"ANTHROPIC_API_KEY": "a", "FINCOSMOS_MODEL_KEY": "b", "ANTHROPIC_BASE_URL": "http://x", "PATH": "/bin"}
    environ = dict(before)
    with without_keys(environ):
        assert environ == {"PATH": "/bin"}
    assert environ == before


def test_own_variable_of_the_key_wins() -> None:
    environ = {"ANTHROPIC_API_KEY": "a", "FINCOSMOS_MODEL_KEY": " b ", "ANTHROPIC_BASE_URL": "http://x"}

    assert find_access(environ) == Access("b", "FINCOSMOS_MODEL_KEY", "http://x")
    assert find_access({"ANTHROPIC_API_KEY": "a"}) == Access("a", "ANTHROPIC_API_KEY", "https://api.anthropic.com")


@pytest.mark.parametrize("environ", [{}, {"ANTHROPIC_API_KEY": "  "}])
def test_missing_key_is_one_sentence_with_the_next_step(environ: dict[str, str]) -> None:
    with pytest.raises(PrerequisiteError, match=r"export ANTHROPIC_API_KEY=.*or choose `rules`"):
        find_access(environ)


def test_key_that_is_taken_passes_the_check(opened: Opened) -> None:
    server, models = opened(in_turn(good({})))

    models.client.check(("claude-opus-4-8", "claude-opus-5-5"))

    assert server.requests == []


@pytest.mark.parametrize("key", ["another", "sk-ant-test-5b1f0c7"])
def test_refused_key_is_a_prerequisite_that_names_its_variable_and_not_its_value(opened: Opened, key: str) -> None:
    _, models = opened(in_turn(good({})), key=key)

    with pytest.raises(PrerequisiteError, match=r"HTTP 401.*the key in ANTHROPIC_API_KEY was refused") as caught:
        models.client.check(("claude-opus-4-8",))

    assert key not in str(caught.value)


def test_unknown_model_is_said_before_a_run(opened: Opened) -> None:
    _, models = opened(in_turn(failing(404, "not_found_error", "model: claude-none")))

    with pytest.raises(PrerequisiteError, match=r"'claude-none' at 127.0.0.1: .* HTTP 404"):
        models.client.check(("claude-opus-4-8", "claude-none"))


def test_proxy_that_lists_no_models_is_asked_for_one_token(opened: Opened) -> None:
    server, models = opened(in_turn(text("Hi")))

    models.client.check(("routed/opus",))

    assert [asked.max_tokens for asked in server.requests] == [1]


def test_address_nobody_listens_on_is_a_prerequisite(tmp_path: Path) -> None:
    access = Access("k-secret", "ANTHROPIC_API_KEY", "http://127.0.0.1:9")
    with (
        open_models(access, log_to=tmp_path / "model.log", limits=QUICK) as models,
        pytest.raises(PrerequisiteError, match=r"expected to reach it.*check the network and ANTHROPIC_BASE_URL"),
    ):
        models.client.check(("claude-opus-4-8",))


def test_process_that_is_gone_is_a_model_error(opened: Opened) -> None:
    _, models = opened(in_turn(good({})), fresh=True)
    models.process.kill()
    models.process.wait()

    with pytest.raises(ModelError, match="it ended or was stopped"):
        models.client.ask(request())
    assert not models.is_alive


def test_line_that_is_no_call_is_answered_without_repeating_it(opened: Opened) -> None:
    _, models = opened(in_turn(good({})))
    broken = request().model_copy(update={"purpose": "gossip"})

    with pytest.raises(ModelError, match="expected one call of this version") as caught:
        models.client.ask(broken)

    assert "gossip" not in str(caught.value)


def test_process_that_cannot_serve_is_a_prerequisite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    access = Access("k-secret", "ANTHROPIC_API_KEY", "http://127.0.0.1:9")

    with (
        pytest.raises(PrerequisiteError, match="set TMPDIR to a short path"),
        open_models(access, log_to=tmp_path / "model.log"),
    ):
        pytest.fail("it came up")


def test_process_without_a_key_says_so(tmp_path: Path) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "FINCOSMOS_MODEL_KEY"}
    done = subprocess.run(
        [sys.executable, "-m", "modelgate", "--socket", str(tmp_path / "s")],
        cwd=ROOT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr == "model process: expected the key in FINCOSMOS_MODEL_KEY, found none; set it\n"


def test_client_without_a_process_is_a_model_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        Client(tmp_path / "none").ask(request())


def test_server_refuses_what_the_service_refuses() -> None:
    """The stand-in for the service is only worth something when it is as strict."""
    with AnthropicServer(in_turn(good({}))) as server:
        versioned = {"anthropic-version": "1", "authorization": f"Bearer {KEY}"}
        body = b'{"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "x"}]}'
        assert server.answer(versioned, body)[0].status == 200
        assert server.answer({"x-api-key": KEY}, body)[0].status == 400
        assert server.answer({"x-api-key": "no"}, body)[0].status == 401
        assert server.answer(versioned, body.replace(b'"x"', b'" "'))[0].status == 400
