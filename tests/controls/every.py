"""Importing this module registers every control."""

from tests.controls import (
    mutants_code,
    mutants_edited,
    mutants_process,
    mutants_words,
    variants_content,
    variants_files,
)
from tests.controls.control import CONTROLS

__all__ = [
    "CONTROLS",
    "mutants_code",
    "mutants_edited",
    "mutants_process",
    "mutants_words",
    "variants_content",
    "variants_files",
]
