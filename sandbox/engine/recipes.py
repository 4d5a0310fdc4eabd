"""What each image is made of, and the key that says whether a built one is still that.

Pure: reads files, asks no engine. A key covers the Dockerfile, every file that goes into the image and the parent's key,
so equal keys mean equal recipes; README and verify scripts are not in an image and not in its key.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from records.errors import PrerequisiteError, UsageError

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout: images are built from its `images/` folder and packages."""
REPOSITORY: Final = "fincosmos"
KEY_LABEL: Final = "fincosmos.key"
PARENT_LABEL: Final = "fincosmos.parent"
"""Id of the image it was built on; a parent built anew makes its children stale although their recipes are the same."""
DEBIAN: Final = "debian"
DEBIAN_RECIPE: Final = "bookworm-1"
"""Counts up when sandbox.engine.debian changes what it leaves in the image."""

CHECKOUT: Final = (
    *(
        "records",
        "sandbox",
        "gateway",
        "adapters",
        "simulator",
        "generator",
        "evaluator",
        "reports",
        "offline",
        "modelgate",
        "children",
        "runner",
    ),
    "images",
)
"""What of the checkout the runner needs in a container: its packages, and `images/` to know the images' names."""
OUTSIDE_THE_IMAGE: Final = frozenset({"README.md", "verify", "__pycache__", ".ruff_cache", ".mypy_cache"})


@dataclass(frozen=True)
class Recipe:
    """How one image is built."""

    name: str
    parent: str
    code: tuple[tuple[str, str], ...] = ()
    """(folder of the checkout, folder below `code/` in the build context)."""
    network: bool = False
    """The build installs packages: it sees the host's network, CA bundle, apt settings and wheels."""

    @property
    def folder(self) -> Path:
        """The image's own folder, with its Dockerfile."""
        return ROOT / "images" / self.name


RECIPES: Final = {
    recipe.name: recipe
    for recipe in (
        Recipe("base", DEBIAN, network=True),
        Recipe("reference", "base", code=(("images/reference", "."),)),
        Recipe("evaluator-deps", DEBIAN, network=True),
        Recipe("evaluator", "evaluator-deps", code=(("evaluator", "evaluator"), ("records", "records"))),
        Recipe("launcher-deps", DEBIAN, network=True),
        Recipe("launcher", "launcher-deps", code=tuple((name, name) for name in CHECKOUT)),
    )
}
DEFAULT_IMAGES: Final = ("base", "reference", "evaluator")
"""What a run needs; parents come with them."""


def known(name: str) -> str:
    """Return the name when there is such an image; raise UsageError otherwise."""
    if name != DEBIAN and name not in RECIPES:
        raise UsageError(f"unknown image '{name}', expected one of {', '.join([DEBIAN, *RECIPES])}; see: ls images")
    return name


def lineage(names: list[str]) -> list[str]:
    """Return the images and all they are built on, each once, parents first."""
    ordered: list[str] = []
    for name in names:
        chain = [known(name)]
        while chain[-1] != DEBIAN:
            chain.append(RECIPES[chain[-1]].parent)
        ordered += [link for link in reversed(chain) if link not in ordered]
    return ordered


def context_files(recipe: Recipe) -> Iterator[tuple[str, Path]]:
    """Yield (path in the build context, file), sorted by path; raise PrerequisiteError when there is no checkout."""
    if not (recipe.folder / "Dockerfile").is_file():
        raise PrerequisiteError(
            f"images are built from a checkout, {recipe.folder}/Dockerfile is not there; run: git clone the project"
        )
    found: dict[str, Path] = {}
    code_sources = [(ROOT / source, target) for source, target in recipe.code]
    for path in _files(recipe.folder):
        inside = path.relative_to(recipe.folder).as_posix()
        if inside == "Dockerfile" or recipe.folder not in [source for source, _ in code_sources]:
            found[inside] = path
    for source, target in code_sources:
        for path in _files(source):
            if path.name != "Dockerfile" or source != recipe.folder:
                found[(Path("code") / target / path.relative_to(source)).as_posix()] = path
    yield from sorted(found.items())


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that may go into an image."""
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        if path.is_file() and not OUTSIDE_THE_IMAGE.intersection(parts) and path.suffix != ".pyc":
            yield path


def key(name: str) -> str:
    """Return the SHA-256 of an image's recipe, hexadecimal."""
    if known(name) == DEBIAN:
        return hashlib.sha256(DEBIAN_RECIPE.encode()).hexdigest()
    recipe = RECIPES[name]
    digest = hashlib.sha256(key(recipe.parent).encode())
    for inside, path in context_files(recipe):
        executable = bool(path.stat().st_mode & 0o100)
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        digest.update(f"{inside}\0{executable}\0{content}\n".encode())
    return digest.hexdigest()


def tag(name: str) -> str:
    """Return the name under which exactly this recipe's image is kept; two checkouts on one machine do not collide."""
    return f"{REPOSITORY}/{name}:{key(name)[:16]}"


def latest(name: str) -> str:
    """Return the name of whichever checkout's image was built last, for people and scripts."""
    return f"{REPOSITORY}/{name}:latest"
