"""Which grades may stand in one table: those of one evaluator version, one judge and one simulated user."""

from collections.abc import Callable, Iterable

from records.errors import UsageError
from records.grade import Grade

_MARKS: tuple[tuple[str, Callable[[Grade], str]], ...] = (
    ("evaluator version", lambda grade: grade.evaluator_version),
    ("judge", lambda grade: grade.judge),
    ("judge's prompts", lambda grade: grade.judge_prompt_sha256[:12]),
    ("user", lambda grade: grade.user),
    ("user's prompt", lambda grade: grade.user_prompt_sha256[:12]),
)


def mixing(grades: Iterable[Grade]) -> str | None:
    """Return one sentence on what differs between grades, or None where they are comparable."""
    found = list(grades)
    differing = []
    for name, mark in _MARKS:
        values = sorted({mark(grade) or "none" for grade in found})
        if len(values) > 1:
            differing.append(f"{name} ({', '.join(values)})")
    return f"Grades that differ in {'; '.join(differing)} are not comparable." if differing else None


def refuse_mixed(grades: Iterable[Grade], *, mix: bool) -> None:
    """Do nothing where grades are comparable or the reader asked for the mixture.

    Raises: UsageError: they are not, and nobody asked.
    """
    said = mixing(grades)
    if said is not None and not mix:
        raise UsageError(f"{said} Grade all with one judge and version (runner grade RUN --judge ...), or add --mix")
