"""Makes up for a rerun that is missing: the session is older than reruns, or our boxes failed after it."""

from pydantic import ValidationError

from records.capture import Manifest
from records.errors import GradingError
from records.paths import AttemptPaths
from runner.grade import end_of
from runner.rerun import Rerunner
from runner.store import AttemptStore, chain_files


def supply_rerun(paths: AttemptPaths, rerunner: Rerunner) -> bool:
    """Run the delivered code of a finished attempt where that was not done, and seal the folder anew.

    Returns: whether it was missing and is there now. A session that cannot be graded is left alone.
    Raises: SandboxError, PrerequisiteError: our boxes failed; nothing is written. GradingError: a sealed file is no
    longer what its manifest says; sealing again would hide that.
    """
    if paths.rerun.exists():
        return False
    end_of(paths)
    _refuse_changed(paths)
    rerunner.rerun(paths)
    AttemptStore(paths).seal()
    return True


def _refuse_changed(paths: AttemptPaths) -> None:
    if not paths.manifest.exists():
        return
    try:
        sealed = Manifest.model_validate_json(paths.manifest.read_bytes()).files
    except (OSError, ValidationError) as error:
        raise GradingError(f"'{paths.manifest}': expected a manifest, found {error}") from error
    if tuple(chain_files(paths.public, skip=paths.manifest)) != sealed:
        raise GradingError(
            f"'{paths.public}': expected the files of its manifest, found others; the rerun is not added to a changed capture"
        )
