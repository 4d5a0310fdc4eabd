"""Excel workbooks, every sheet. Formulas count by their stored value; macros and links are never looked at."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from evaluator.package.constants import MAX_LOOSE_BYTES, MAX_LOOSE_CELLS, MAX_RATIO, MAX_TABLES
from evaluator.package.formats.grids import grid_tables
from evaluator.package.formats.raw import RawTable, Unreadable

_UNPACKED = 4 * MAX_LOOSE_BYTES
_CELLS = MAX_LOOSE_CELLS // 2
_SECONDS = 120
_ROOT = Path(__file__).resolve().parents[3]


def workbook(data: bytes) -> list[RawTable]:
    """Read an .xlsx, .xls, .xlsb or .ods file. Raises Unreadable with the reason."""
    if data.startswith(b"PK"):
        _check_parts(data)
    tables: list[RawTable] = []
    sheets = _opened(data)
    for name, grid in sheets:
        tables += grid_tables(grid, "" if len(sheets) == 1 else str(name), (f"sheet {name}",))
    if not tables:
        raise Unreadable("no sheet holds a table")
    return tables


def _opened(data: bytes) -> list[tuple[str, Any]]:
    """Return the sheets as the child process read them."""
    place = {**os.environ, "PYTHONPATH": str(_ROOT), "RUST_BACKTRACE": "0"}
    command = [sys.executable, "-m", "evaluator.package.formats.sheets", str(_CELLS), str(MAX_TABLES)]
    try:
        done = subprocess.run(command, input=data, capture_output=True, check=False, timeout=_SECONDS, env=place)
    except subprocess.TimeoutExpired as error:
        raise Unreadable(f"the workbook is not opened within {_SECONDS} s") from error
    if done.returncode != 0:
        raise Unreadable("the workbook needs more memory or time to open than a table does")
    found = json.loads(done.stdout)
    if "error" in found:
        raise Unreadable(f"not a readable workbook: {found['error']}")
    return [(name, grid) for name, grid in found["sheets"]]


def _check_parts(data: bytes) -> None:
    """Refuse a container whose parts unpack to too much or are longer than they say."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as container:
            parts = container.infolist()
            size = sum(part.file_size for part in parts)
            if size > _UNPACKED or (size > 1 << 20 and size > MAX_RATIO * len(data)) or len(parts) > 5_000:
                raise Unreadable(f"the workbook unpacks from {len(data)} to {size} bytes")
    except zipfile.BadZipFile as error:
        raise Unreadable(f"not a readable workbook: {str(error)[:200]}") from error
