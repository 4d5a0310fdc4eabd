"""Each image's own verify script, run inside it."""

from pathlib import PurePosixPath

import pytest

from records.limits import MIB
from sandbox.engine import images
from sandbox.engine.oneshot import DockerJobs
from sandbox.engine.recipes import ROOT
from sandbox.job import AGENT_USER, Job, Mount

FOLDERS = {"base": "base", "reference": "base", "evaluator": "evaluator-deps", "launcher": "launcher-deps"}
"""Image, and the image that owns its requirements.txt."""


@pytest.mark.docker
@pytest.mark.parametrize("name", sorted(FOLDERS))
def test_built_image_then_its_verify_script_holds(name: str, jobs: DockerJobs, built: dict[str, str]) -> None:
    if name not in built:
        images.build([name], on_line=lambda _line: None)
    job = Job(
        image=images.reference(name),
        argv=("python3", "/verify/verify", "/verify/requirements.txt"),
        timeout_s=120,
        memory_bytes=1024 * MIB,
        user="0:0" if name == "launcher" else AGENT_USER,
        mounts=(
            Mount(ROOT / "images" / name / "verify", PurePosixPath("/verify/verify")),
            Mount(ROOT / "images" / FOLDERS[name] / "requirements.txt", PurePosixPath("/verify/requirements.txt")),
        ),
    )

    result = jobs.run(job)

    assert (result.exit_code, result.stdout.decode(), result.stderr.decode()) == (0, f"{name}: all as promised\n", "")


def test_every_image_folder_then_it_has_a_readme_and_a_dockerfile() -> None:
    for name in images.RECIPES:
        folder = ROOT / "images" / name
        assert (folder / "Dockerfile").is_file(), name
        assert (folder / "README.md").is_file(), name
