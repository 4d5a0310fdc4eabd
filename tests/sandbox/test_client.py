import inspect
from pathlib import Path

import docker.errors
import pytest
import requests

from records.errors import EvalError, LostError, PrerequisiteError, StartError, TransferError
from sandbox.engine.client import ENGINE_ERRORS, open_client, translated


def _sdk_errors() -> list[type[Exception]]:
    found = [kind for _, kind in inspect.getmembers(docker.errors, inspect.isclass)]
    return [kind for kind in found if issubclass(kind, Exception) and kind.__module__ == "docker.errors"]


def _instance(kind: type[Exception]) -> Exception:
    made = kind.__new__(kind)
    Exception.__init__(made, "words of the engine")
    made.__dict__.setdefault("explanation", "words of the engine")
    made.__dict__.setdefault("response", None)
    made.__dict__.setdefault("msg", "words of the engine")
    made.__dict__.setdefault("name", "context")
    made.__dict__.setdefault("param", "context")
    return made


def test_every_error_of_the_sdk_stands_in_the_table() -> None:
    assert len(_sdk_errors()) > 15
    assert set(_sdk_errors()) == set(ENGINE_ERRORS)


@pytest.mark.parametrize("kind", _sdk_errors())
def test_sdk_error_then_ours_with_a_sentence(kind: type[Exception]) -> None:
    with pytest.raises(EvalError) as caught, translated("copy a folder", fault=TransferError):
        raise _instance(kind)

    assert type(caught.value) is (ENGINE_ERRORS[kind] or TransferError)
    assert caught.value.__cause__ is not None
    assert len(str(caught.value)) > 30


def test_missing_image_then_the_sentence_names_it_and_the_command() -> None:
    with (
        pytest.raises(PrerequisiteError, match=r"image 'box:1' is not built; run: runner images build"),
        translated("create", image="box:1"),
    ):
        raise docker.errors.ImageNotFound("no")


@pytest.mark.parametrize(
    "kind", [requests.exceptions.ConnectionError, requests.exceptions.ReadTimeout, BrokenPipeError]
)
def test_silent_engine_then_the_callers_class(kind: type[Exception]) -> None:
    with (
        pytest.raises(StartError, match="did not answer when asked to start it") as caught,
        translated("start it", fault=StartError, container_id="c1"),
    ):
        raise kind("gone")

    assert caught.value.container_id == "c1"


def test_our_own_error_inside_then_untouched() -> None:
    with pytest.raises(LostError, match="ours"), translated("x", fault=StartError):
        raise LostError("ours")


def test_no_engine_then_prerequisite_with_next_step(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")

    with pytest.raises(PrerequisiteError, match=r"apt-get install docker.io"):
        open_client()


def test_engine_on_another_machine_then_prerequisite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://10.0.0.1:2375")

    with pytest.raises(PrerequisiteError, match="unset DOCKER_HOST"):
        open_client()
