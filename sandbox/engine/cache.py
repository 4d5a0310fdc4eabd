"""Where things that outlive a run are kept on the host: forwarder folder, workspace templates and images."""

import os
from pathlib import Path


def cache_dir() -> Path:
    """Return FINCOSMOS_CACHE, else the user's cache folder; made when missing, closed to other users."""
    named = os.environ.get("FINCOSMOS_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(named) if named else base / "fincosmos"
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder.resolve()
