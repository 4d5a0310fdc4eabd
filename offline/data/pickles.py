"""Reads the pickled DataFrames of index-constitution with an unpickler that builds pandas and numpy data only."""

import pickle
from pathlib import Path
from typing import Any

import pandas as pd

from records.errors import PrerequisiteError

# Exactly what pandas writes for frames of text and dates; nothing that evaluates or imports.
SAFE_GLOBALS = {
    ("builtins", "slice"),
    ("numpy", "dtype"),
    ("numpy", "ndarray"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("pandas", "DataFrame"),
    ("pandas", "Index"),
    ("pandas", "RangeIndex"),
    ("pandas", "StringDtype"),
    ("pandas._libs.arrays", "__pyx_unpickle_NDArrayBacked"),
    ("pandas._libs.internals", "_unpickle_block"),
    ("pandas.arrays", "DatetimeArray"),
    ("pandas.arrays", "StringArray"),
    ("pandas.core.indexes.base", "Index"),
    ("pandas.core.indexes.base", "_new_Index"),
    ("pandas.core.indexes.range", "RangeIndex"),
    ("pandas.core.internals.managers", "BlockManager"),
    ("pandas.core.arrays.string_", "StringDtype"),
}


class DataUnpickler(pickle.Unpickler):
    """Refuses every global outside the data classes of pandas and numpy."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        """Return the named global. Raises UnpicklingError for anything that is not plain data."""
        if (module_name, global_name) not in SAFE_GLOBALS:
            raise pickle.UnpicklingError(f"{module_name}.{global_name} is not data")
        return super().find_class(module_name, global_name)


def read_frame(path: Path) -> pd.DataFrame:
    """Return the DataFrame in `path`. Raises PrerequisiteError when it holds anything else."""
    try:
        with path.open("rb") as file:
            frame = DataUnpickler(file).load()
    except (pickle.UnpicklingError, AttributeError, ImportError) as exc:
        raise PrerequisiteError(f"offline data file {path.name}: expected a pickled DataFrame, found {exc}") from exc
    if not isinstance(frame, pd.DataFrame):
        raise PrerequisiteError(f"offline data file {path.name}: expected a DataFrame, found {type(frame).__name__}")
    return frame
