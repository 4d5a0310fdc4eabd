"""Whether numbers of several runs may stand in one table: the same evaluator, judge, user and conditions. Pure."""

from collections.abc import Iterable, Sequence

from records.errors import UsageError
from reports.collect import RunView

_HASH_CHARS = 8
UNGRADED = "no grade"


def traits(run: RunView) -> dict[str, tuple[str, ...]]:
    """Return what must agree between runs, in words: trait -> its values in this run, sorted."""
    record = run.record
    grades = [cell.grade for cell in run.cells if cell.grade is not None]
    return {
        "evaluator version": _values(grade.evaluator_version for grade in grades) or (UNGRADED,),
        "judge": _values(_told(grade.judge, grade.judge_prompt_sha256) for grade in grades) or (UNGRADED,),
        "user": _values(_told(grade.user, grade.user_prompt_sha256) for grade in grades) or (record.user,),
        "conditions": (
            ", ".join(f"{key}={value}" for key, value in record.conditions.model_dump(mode="json").items()),
        ),
        "data": ("offline" if record.offline else "live",),
    }


def differences(runs: Sequence[RunView]) -> tuple[str, ...]:
    """Return one phrase per trait that is not the same everywhere: the trait, then each run with its values."""
    found = [(run.record.run_id, traits(run)) for run in runs]
    phrases = []
    for trait in traits(runs[0]) if runs else ():
        values = {value for _, one in found for value in one[trait] if value != UNGRADED}
        if len(values) > 1:
            each = ", ".join(f"{run} {' and '.join(one[trait])}" for run, one in found)
            phrases.append(f"{trait} ({each})")
    return tuple(phrases)


def refuse_different(runs: Sequence[RunView]) -> None:
    """Raise UsageError, one sentence with the runs and their values, when their numbers are not comparable."""
    phrases = differences(runs)
    if phrases:
        raise UsageError(
            f"runs that are not comparable: expected one value of each in a table, found different {'; '.join(phrases)}; "
            "grade them again with one version and judge, or put them together all the same with --mix"
        )


def _values(found: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(found)))


def _told(name: str, prompt_sha256: str) -> str:
    return f"{name} (prompts {prompt_sha256[:_HASH_CHARS]})" if prompt_sha256 else name
