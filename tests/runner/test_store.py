import hashlib
from pathlib import Path

import pytest

from records.capture import Manifest
from records.paths import RunPaths
from runner.store import AttemptStore, printable_path
from tests.runner.fakes import ScriptedSandbox, ScriptedUser, attempt, decision, strategy, task


def test_manifest_chains_every_public_file_and_seals_the_strategy(tmp_path: Path) -> None:
    one = attempt(tmp_path, ScriptedSandbox(delivered={"b.csv": b"1"}), ScriptedUser([decision("close", "ok")]))
    one.run()

    manifest = Manifest.model_validate_json(one.paths.manifest.read_text(encoding="utf-8"))
    listed = {entry.path for entry in manifest.files}
    present = {
        path.relative_to(one.paths.public).as_posix()
        for path in one.paths.public.rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    chain = ""
    for entry in manifest.files:
        digest = hashlib.sha256((one.paths.public / entry.path).read_bytes()).hexdigest()
        chain = hashlib.sha256((chain + entry.path + digest).encode()).hexdigest()
        assert entry.chain == chain
    salt = one.paths.manifest_salt.read_bytes()
    sealed = hashlib.sha256(salt + one.paths.strategy.read_bytes()).hexdigest()
    assert listed == present
    assert manifest.sealed_sha256 == sealed
    assert len(salt) == 32
    assert not any(salt in path.read_bytes() for path in one.paths.public.rglob("*") if path.is_file())


def test_link_in_a_capture_is_neither_followed_nor_listed(tmp_path: Path) -> None:
    store = AttemptStore(RunPaths(tmp_path).attempt("null", "amber-otter", 1, 1))
    store.create(task(), strategy())
    (store.paths.public / "link").symlink_to(store.paths.strategy)

    assert [entry.path for entry in store.seal().files] == ["task.json"]


def test_attempt_that_exists_is_never_written_over(tmp_path: Path) -> None:
    store = AttemptStore(RunPaths(tmp_path).attempt("null", "amber-otter", 1, 1))
    store.create(task(), strategy())

    with pytest.raises(FileExistsError):
        store.create(task(), strategy())


def test_file_name_that_is_no_utf8_is_percent_encoded(tmp_path: Path) -> None:
    assert printable_path(Path("a/b\udcff é.csv")) == "a/b%FF é.csv"


def test_sealed_folder_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    store = AttemptStore(RunPaths(tmp_path).attempt("null", "amber-otter", 1, 1))
    store.create(task(), strategy())

    assert store.paths.sealed.stat().st_mode & 0o077 == 0
