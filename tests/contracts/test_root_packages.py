import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
NOT_OURS = {"tests", "docs", "images", "benchmarks", "scripts", "runs", "build", "dist"}


def test_every_top_level_package_is_under_the_contracts() -> None:
    """import-linter does not notice a package that is missing from its list."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    packages = {
        folder.name
        for folder in ROOT.iterdir()
        if folder.is_dir() and folder.name not in NOT_OURS and any(folder.glob("*.py"))
    }

    assert packages == set(settings["importlinter"]["root_packages"])
    assert packages == set(settings["mypy"]["packages"])
    assert packages == {name.rstrip("*") for name in settings["setuptools"]["packages"]["find"]["include"]}
