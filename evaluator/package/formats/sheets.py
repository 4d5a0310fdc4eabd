"""Child process that opens one workbook under limits and prints its sheets as JSON; see `workbook.py`.

calamine builds the whole rectangle between a sheet's first and last cell and ends the process when memory runs out, so
a file with a value in its last corner must meet its end elsewhere. Only calamine and the standard library are imported.
"""

import datetime as dt
import io
import json
import resource
import sys
from typing import Any

_MEMORY = 900 * 1024 * 1024
_SECONDS = 60


def main() -> int:
    """Read the workbook on stdin; argument: most cells. Prints {sheets: [[name, rows]]} or {error: sentence}."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from python_calamine import CalamineError, CalamineWorkbook  # noqa: PLC0415 -- after the limits

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
        out = _sheets(book, int(sys.argv[1]), int(sys.argv[2]))
    except (CalamineError, ValueError, OSError, MemoryError) as error:
        out = {"error": f"{type(error).__name__}: {str(error)[:200]}"}
    json.dump(out, sys.stdout, default=_written)
    return 0


def _sheets(book: Any, most_cells: int, most_sheets: int) -> dict[str, Any]:
    names = book.sheet_names
    if len(names) > most_sheets:
        return {"error": f"{len(names)} sheets, at most {most_sheets} are read"}
    sheets = []
    cells = 0
    for name in names:
        sheet = book.get_sheet_by_name(name)
        cells += sheet.height * sheet.width
        if cells > most_cells:
            return {
                "error": f"sheet {name[:60]} spans {sheet.height} x {sheet.width} cells, at most {most_cells} are read"
            }
        sheets.append([name, sheet.to_python(skip_empty_area=True)])
    return {"sheets": sheets}


def _written(cell: object) -> str:
    if isinstance(cell, dt.datetime) and cell.time() == dt.time():
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, dt.datetime | dt.date | dt.time) else str(cell)


if __name__ == "__main__":
    sys.exit(main())
