import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))

    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def test_every_decision_is_in_the_index() -> None:
    folder = ROOT / "docs" / "adr"
    index = (folder / "README.md").read_text(encoding="utf-8")

    assert [path.name for path in sorted(folder.glob("0*.md")) if f"({path.name})" not in index] == []


def test_readme_names_every_dependency_with_its_reason() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    block = settings.split("dependencies = [", 1)[1].split("]", 1)[0]

    named = re.findall(r'"([A-Za-z0-9-]+)', block)
    assert [name for name in named if name not in text] == []
