"""Bases with the record of their code's second run (dimension 3.6)."""

from pathlib import Path

from tests.controls.attempts import copied
from tests.controls.places import digest, made_once
from tests.outside_box import CODE, run_alone


def with_rerun(origin: Path) -> Path:
    """Return a copy of a base that holds the record of its code's second run."""

    def make(place: Path) -> None:
        place.rmdir()
        run_alone(copied(origin, place).paths)

    return made_once(f"again-{origin.name}", digest(CODE), make)
