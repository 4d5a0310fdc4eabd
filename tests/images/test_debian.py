"""The Debian base where no registry answers, and what of the machine stays in it."""

import shutil
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from records.errors import PrerequisiteError
from sandbox.engine import debian


class FakeEngine:
    """A client whose registry answers as told."""

    def __init__(self, events: list[dict[str, Any]] | None = None, *, silent: bool = False) -> None:
        self.release = threading.Event()
        self._silent = silent
        self._events = events or []
        self.api = SimpleNamespace(pull=self._pull)

    def _pull(self, *_what: str, **_how: bool) -> Iterator[dict[str, Any]]:
        if self._silent:
            self.release.wait(10)
        yield from self._events


def _pulled(engine: FakeEngine) -> bool:
    return debian._pulled(engine, lambda _line: None)  # type: ignore[arg-type]


def test_registry_that_gives_the_image_then_it_is_taken() -> None:
    assert _pulled(FakeEngine([{"status": "Pulling"}, {"status": "Pull complete"}]))


def test_registry_that_refuses_then_none() -> None:
    assert not _pulled(FakeEngine([{"status": "Pulling"}, {"error": "toomanyrequests"}]))


def test_registry_that_says_nothing_then_none_without_waiting_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "SILENCE_S", 0.05)
    engine = FakeEngine(silent=True)

    assert not _pulled(engine)

    engine.release.set()


def test_no_registry_and_not_root_then_the_sentence_has_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1234)

    with pytest.raises(PrerequisiteError, match="debootstrap needs root; run: sudo runner images build debian"):
        debian._bootstrap(FakeEngine(), tmp_path, {})  # type: ignore[arg-type]


def test_no_registry_and_no_debootstrap_then_the_sentence_has_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda _name: None)

    with pytest.raises(PrerequisiteError, match="run: apt-get install debootstrap, then run: runner images build"):
        debian._bootstrap(FakeEngine(), tmp_path, {})  # type: ignore[arg-type]


def test_debootstrap_that_stops_then_its_last_words_and_no_tree_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "debootstrap"
    tool.write_text('#!/bin/sh\nmkdir -p "$3"; echo E: Release signature is wrong; exit 1\n', encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    cache = tmp_path / "cache"
    cache.mkdir()

    with pytest.raises(PrerequisiteError, match="stopped: E: Release signature is wrong; mend it, then run"):
        debian._bootstrap(FakeEngine(), cache, {})  # type: ignore[arg-type]

    assert list(cache.iterdir()) == []


def test_cleaned_tree_then_nothing_names_the_machine(tmp_path: Path) -> None:
    for name in (*debian.EMPTIED, "etc/apt", "etc/dpkg/dpkg.cfg.d"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    for name in ("etc/hostname", "etc/resolv.conf", "root/.bash_history", "var/log/bootstrap.log", "dev/null"):
        (tmp_path / name).write_text(socket.gethostname(), encoding="utf-8")
    (tmp_path / "etc/apt/sources.list").write_text("deb https://mirror.inside/debian bookworm main", encoding="utf-8")
    (tmp_path / "dev/fd").symlink_to("/proc/self/fd")

    debian._clean(tmp_path)

    assert [(tmp_path / name).read_text() for name in ("etc/hostname", "etc/resolv.conf", "etc/machine-id")] == [""] * 3
    assert [path for name in debian.EMPTIED for path in (tmp_path / name).iterdir()] == []
    sources = (tmp_path / "etc/apt/sources.list").read_text(encoding="utf-8")
    assert {line.split()[1] for line in sources.splitlines()} == {
        "http://deb.debian.org/debian",
        "http://deb.debian.org/debian-security",
    }
    assert (tmp_path / "etc/dpkg/dpkg.cfg.d/docker").read_text(encoding="utf-8").startswith("force-unsafe-io\n")
