"""Loads what the delivered code made when it was run again, read exactly as a delivery is."""

from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from evaluator.package.delivery import Document, RerunOutput, Table
from evaluator.package.files import Found, walk_tree
from records.errors import GradingError
from records.rerun import Rerun

Reader = Callable[[Found], tuple[list[Table], Document | None, list[str]]]
_DELIVER = "deliver/"


def load_rerun(public: Path, turn: int, read: Reader) -> RerunOutput | None:
    """Return the record and the regenerated tables; None when the code was not run again.

    Files outside deliver/ count as well; of two with one name the one in deliver/ counts.
    Raises: GradingError: rerun.json, which is ours, cannot be read.
    """
    record_file = public / "rerun.json"
    if not record_file.is_file():
        return None
    try:
        record = Rerun.model_validate_json(record_file.read_bytes())
    except (OSError, ValidationError) as error:
        raise GradingError(f"rerun record {record_file.name} of the attempt: expected one, {error}") from error
    walk = walk_tree(public / "rerun", turn)
    tables: list[Table] = []
    refused = list(walk.refused)
    inside = {path.removeprefix(_DELIVER): found for path, found in walk.files.items() if path.startswith(_DELIVER)}
    outside = {path: found for path, found in walk.files.items() if not path.startswith(_DELIVER)}
    for path, found in sorted((outside | inside).items()):
        found_tables, _, reasons = read(Found(path, found.file, found.turn, found.size))
        tables += found_tables
        refused += reasons
    return RerunOutput(record, tuple(tables), tuple(refused))
