"""Canaries in a real session: nothing sealed and no key is anywhere an agent or an auditor can see.

Each search is then shown to find what a build that leaks on purpose puts into exactly that place.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest

from records.session import EndReason
from sandbox.engine.box import DockerSandbox
from sandbox.protocol import SandboxSpec
from tests.canaries import said, unstated
from tests.leaks import Hit, Place, in_folder
from tests.live import Services, services
from tests.watched import Build, Session, watch

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0, reason="a box's processes and files are seen from outside by root alone"),
]
SALT = "canary-salt-16-not-to-be-seen"
SEED = 90417
UNTOLD = {"log of the run": {"seed"}, "record of the run": {"seed"}}
"""The operator's own files may say which seeds were planned; an agent never sees them."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    with services(tmp_path_factory.mktemp("services")) as running:
        yield running


@pytest.fixture(scope="module")
def null(made: Services, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session in which the user is asked nothing."""
    return watch(tmp_path_factory.mktemp("null") / "run", made, agent="null", seed=SEED, salt=SALT, grade=True)


@pytest.fixture(scope="module")
def reference(made: Services, tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A session in which everything is asked, data are fetched and a delivery is made."""
    return watch(tmp_path_factory.mktemp("reference") / "run", made, agent="reference", seed=6, grade=True)


def strays(session: Session) -> list[Hit]:
    return sorted({hit for hit in session.hits if not session.is_due(hit)})


def test_canaries_of_an_unasked_user_hold_numbers_and_every_kind(null: Session) -> None:
    """Otherwise the searches below would look for less than they say."""
    kinds = {name.split()[0] for name in null.needles}
    assert kinds == {"nonce", "salt", "key", "sealed", "id", "conviction", "voiced", "seed"}
    assert any(item.value is not None for item in unstated(null.strategy))
    assert null.needles["nonce"] in null.paths.strategy.read_text(encoding="utf-8")


def test_session_without_a_question_leaks_nothing(null: Session) -> None:
    assert null.end is not None
    assert null.end.reason is EndReason.USER_LEFT
    assert null.looks >= 2  # once in each turn
    assert not strays(null), "\n".join(map(str, strays(null)))


def test_session_with_every_question_leaks_neither_nonce_nor_salt_nor_key_nor_item(reference: Session) -> None:
    assert reference.end is not None
    assert reference.end.reason is EndReason.SATISFIED
    assert reference.looks >= 3  # at work, too
    assert not strays(reference), "\n".join(map(str, strays(reference)))


def test_grading_repeats_no_conviction(reference: Session) -> None:
    """The user said them all; quotes of them belong to the sealed side."""
    texts = said(reference.task, reference.strategy, reference.strategy.belief.items)
    answered = said(reference.task, reference.strategy, unstated(reference.strategy))

    heard = {hit.needle for hit in in_folder("public", reference.paths.session, answered)}
    assert {name for name in answered if name.startswith("voiced")} <= heard
    assert in_folder("graded", reference.paths.graded, texts) == []


def test_key_is_in_the_environment_of_the_gateway(null: Session, reference: Session) -> None:
    """The one place where it must be; a search that never finds it proves nothing."""
    assert all(any(session.is_due(hit) for hit in session.hits) for session in (null, reference))


def child(session: Session, *words: str, **options: Any) -> None:
    """Start a process of ours that stays until the session ended."""
    command = [sys.executable, "-c", "import sys; sys.stderr.close(); import time; time.sleep(600)", *words]
    process = subprocess.Popen(command, **options)
    session.undo.callback(process.wait)
    session.undo.callback(process.kill)


def in_the_box(session: Session, box: DockerSandbox, script: str, user: str = "1000:1000") -> None:
    """Run a shell script in the box with all canaries on its stdin, so that its own command line holds none."""
    made = session.client.api.exec_create(box.id, ["sh", "-c", script], stdin=True, user=user)
    stream = session.client.api.exec_start(made["Id"], socket=True)
    try:
        stream._sock.sendall(session.secret.encode())
        stream._sock.shutdown(1)
        while stream._sock.recv(1024):
            pass
    finally:
        stream._response.close()
        stream.close()


def write(session: Session, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(session.secret, encoding="utf-8")


def mount(session: Session, body: dict[str, Any], source: Path) -> None:
    body["HostConfig"]["Mounts"].append(
        {"Type": "bind", "Source": str(source), "Target": "/mnt/hint", "ReadOnly": True}
    )


def named_mount(session: Session, body: dict[str, Any]) -> None:
    source = session.run.root / session.needles["nonce"]
    source.mkdir()
    mount(session, body, source)


def open_strategy(session: Session, _box: DockerSandbox) -> None:
    with session.paths.strategy.open("rb") as handle:
        child(session, stdin=handle)


def hinted(session: Session) -> dict[str, str]:
    return {**os.environ, "HINT": session.secret}


def with_environment(session: Session, spec: SandboxSpec) -> SandboxSpec:
    return replace(spec, env={**spec.env, "HINT": session.secret})


def log(session: Session, path: Path) -> None:
    """Add all canaries to a log, and take them out again."""
    before = path.read_bytes()
    session.undo.callback(path.write_bytes, before)
    path.write_bytes(before + session.secret.encode())


@dataclass(frozen=True)
class Leak:
    """A build that leaks, and all places where that shows."""

    build: Build
    places: set[str]
    only: tuple[str, ...] = ()
    """The canaries it leaks; empty for all."""
    grade: bool = False
    """It leaks while the session is graded."""


LEAKS = {
    "label of the box": Leak(
        Build(body=lambda s, body: body["Labels"].update(hint=s.secret)), {"description", "engine events"}
    ),
    "name of the box": Leak(
        Build(box_name=lambda s: f"box-{s.needles['nonce']}"), {"description", "engine events"}, only=("nonce",)
    ),
    "host name of the box": Leak(
        Build(body=lambda s, body: body.update(Hostname=s.needles["nonce"])),
        {"description", "environment", "box files"},
        only=("nonce",),
    ),
    "environment of the box": Leak(Build(spec=with_environment), {"description", "environment"}),
    "environment of the agent": Leak(Build(environment=lambda s: {"HINT": s.secret}), {"environment"}),
    "arguments of the box": Leak(
        Build(body=lambda s, body: body["Entrypoint"].append(s.secret)), {"description", "arguments"}
    ),
    "arguments of the agent": Leak(
        Build(arguments=lambda s: [s.secret]), {"description", "arguments", "engine events"}
    ),
    "name of a mount": Leak(Build(body=named_mount), {"description", "mounts"}, only=("nonce",)),
    "sealed folder in the box": Leak(
        Build(body=lambda s, body: mount(s, body, s.paths.sealed)),
        {"description", "mounts", "box files"},
        only=("sealed folder", "nonce", "salt"),
    ),
    "file in the workspace": Leak(
        Build(thawed=lambda s, box: in_the_box(s, box, "cat > /workspace/hint")), {"box files", "public"}
    ),
    "delivered file": Leak(
        Build(thawed=lambda s, box: in_the_box(s, box, "cat > /workspace/deliver/hint.md")), {"box files", "public"}
    ),
    "file in the folder for temporary files": Leak(
        Build(thawed=lambda s, box: in_the_box(s, box, "cat > /tmp/hint")), {"box files"}
    ),
    "file in the home folder": Leak(
        Build(thawed=lambda s, box: in_the_box(s, box, "cat > /home/agent/hint")), {"box files"}
    ),
    "socket folder": Leak(Build(thawed=lambda s, _: write(s, s.sockets / "hint")), {"sockets", "box files"}),
    "output of the box": Leak(
        Build(thawed=lambda s, box: in_the_box(s, box, "{ cat; echo; } > /proc/1/fd/1", user="999:999")),
        {"container log"},
    ),
    "arguments of a process of ours": Leak(Build(thawed=lambda s, _: child(s, s.secret)), {"arguments"}),
    "environment of a process of ours": Leak(Build(thawed=lambda s, _: child(s, env=hinted(s))), {"environment"}),
    "file held open by a process of ours": Leak(Build(thawed=open_strategy), {"open files"}, only=("sealed folder",)),
    "label of the measure container": Leak(
        Build(job=lambda s, job: replace(job, labels={**job.labels, "hint": s.secret})), {"measure job"}, grade=True
    ),
    "log of the run": Leak(Build(ended=lambda s: log(s, s.run.events)), {"run log"}),
    "record of the run": Leak(Build(ended=lambda s: write(s, s.run.run)), {"run record"}),
    "log of the gateway": Leak(Build(ended=lambda s: log(s, s.services.door.gateway.log_path)), {"gateway log"}),
    "public tree": Leak(Build(ended=lambda s: write(s, s.paths.public / "hint.txt")), {"public"}),
    "graded tree": Leak(Build(ended=lambda s: write(s, s.paths.grading("watched").feedback)), {"graded"}),
}


@pytest.mark.parametrize("name", LEAKS)
def test_build_that_leaks_is_caught_in_exactly_that_place(made: Services, tmp_path: Path, name: str) -> None:
    leak = LEAKS[name]

    session = watch(
        tmp_path / "run", made, agent="null", seed=SEED, salt=SALT, turns=1, build=leak.build, grade=leak.grade
    )

    found = {place: session.found(place) for place in session.places}
    needles = set(leak.only or session.needles) - UNTOLD.get(name, set())
    assert set(found) == leak.places
    assert set().union(*found.values()) >= needles
    assert leak.only or all(seen >= needles for seen in found.values())


def test_every_place_that_is_searched_has_a_build_that_leaks_into_it() -> None:
    assert set().union(*(leak.places for leak in LEAKS.values())) == set(get_args(Place))
