"""The launcher's side: ending a child."""

import contextlib
import subprocess


def stop(process: subprocess.Popen[bytes], *, within_s: float) -> None:
    """Close the child's stdin, at which it ends by itself; kill it when it does not within the time."""
    if process.stdin:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
