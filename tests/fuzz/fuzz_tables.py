"""Coverage-guided fuzzing of the table reader: whatever is not a table or a sentence is a bug. Run it by `make fuzz`."""

import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["evaluator.package"]):
    from tests.fuzz.reader import read_bytes


def main() -> None:
    """Hand each input to the reader until the time is over."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:

        def one(data: bytes) -> None:
            read_bytes(data, Path(folder))

        atheris.Setup(sys.argv, one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
