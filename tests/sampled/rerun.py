"""Gives a sampled session the record of its delivered code's second run."""

from records.limits import DEFAULT_LIMITS
from records.paths import AttemptPaths
from tests.controls.places import digest
from tests.outside_box import CODE, run_alone
from tests.sampled.session import LIMIT_S

LIMITS = DEFAULT_LIMITS.model_copy(update={"rerun_s": LIMIT_S})
"""A rerun outside a box shares the machine with other work."""


def ensure_rerun(paths: AttemptPaths) -> None:
    """Write rerun.json and rerun/ of a session unless this state of the code wrote them already."""
    stamp = paths.root / "rerun-by"
    now = digest(CODE)
    if paths.rerun.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == now:
        return
    run_alone(paths, LIMITS)
    stamp.write_text(now, encoding="utf-8")
