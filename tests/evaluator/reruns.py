"""Writes what a rerun leaves in an attempt's public tree, without a container."""

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd

from records.capture import FileEntry
from records.rerun import Rerun


def write_rerun(public: Path, tables: dict[str, pd.DataFrame] | None = None, **changes: Any) -> Rerun:
    """Write rerun.json and the files that the run made; `changes` replace fields of a run that went well."""
    entries = []
    for name, table in (tables or {}).items():
        path = public / "rerun" / "deliver" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        table.to_csv(path, index=False, date_format="%Y-%m-%d")
        body = path.read_bytes()
        entries.append(FileEntry(path=f"deliver/{name}.csv", size=len(body), sha256=hashlib.sha256(body).hexdigest()))
    values: dict[str, Any] = {
        "end": "exited",
        "entry": "backtest.py",
        "kind": "script",
        "why": "backtest.py is the only script with a __main__ part",
        "argv": ("python3", "backtest.py"),
        "exit_code": 0,
        "duration_s": 3.25,
        "files": tuple(entries),
    }
    record = Rerun(**values | changes)
    public.mkdir(parents=True, exist_ok=True)
    (public / "rerun.json").write_text(record.to_json(), encoding="utf-8")
    return record
