import io
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from records.errors import PrerequisiteError
from sandbox.engine import context, recipes, wheels
from sandbox.engine.recipes import RECIPES, ROOT, Recipe


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one image made of a folder of code."""
    (tmp_path / "images/box").mkdir(parents=True)
    (tmp_path / "images/box/Dockerfile").write_text("ARG PARENT\nFROM ${PARENT}\nCOPY code /opt\n", encoding="utf-8")
    (tmp_path / "code/inner").mkdir(parents=True)
    (tmp_path / "code/inner/a.py").write_text("A = 1\n", encoding="utf-8")
    monkeypatch.setattr(recipes, "ROOT", tmp_path)
    monkeypatch.setitem(RECIPES, "box", Recipe("box", "debian", code=(("code", "code"),)))
    return tmp_path


def _members(recipe: Recipe) -> dict[str, tarfile.TarInfo]:
    stream = io.BytesIO()
    context.write_context(recipe, None, stream)
    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        return {member.name: member for member in tar}


def test_changed_code_then_another_key_and_tag(checkout: Path) -> None:
    before = recipes.tag("box")

    (checkout / "code/inner/a.py").write_text("A = 2\n", encoding="utf-8")

    assert recipes.tag("box") != before


@pytest.mark.parametrize("name", ["images/box/README.md", "images/box/verify", "code/__pycache__/a.pyc", "code/a.pyc"])
def test_file_that_is_not_in_the_image_then_the_key_stays(checkout: Path, name: str) -> None:
    before = recipes.key("box")

    (checkout / name).parent.mkdir(exist_ok=True)
    (checkout / name).write_text("new", encoding="utf-8")

    assert recipes.key("box") == before
    assert not [member for member in _members(RECIPES["box"]) if member.endswith(Path(name).name)]


def test_changed_parent_recipe_then_the_childs_key_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    before = recipes.key("evaluator")

    monkeypatch.setattr(recipes, "DEBIAN_RECIPE", "another")

    assert recipes.key("evaluator") != before


def test_context_without_network_then_nothing_of_the_host_is_in_it(checkout: Path) -> None:
    members = _members(RECIPES["box"])

    assert set(members) == {"Dockerfile", "code/code", "code/code/inner/a.py"}
    assert {(member.uid, member.gid, member.mtime) for member in members.values()} == {(0, 0, context.FILE_TIME)}


def test_code_folder_without_files_then_the_context_still_has_it(checkout: Path) -> None:
    (checkout / "code/inner/a.py").unlink()

    assert "code/code" in _members(RECIPES["box"])


def test_named_ca_bundle_then_only_build_time_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ours.pem").write_text("our root", encoding="utf-8")
    monkeypatch.setenv("FINCOSMOS_CA_BUNDLE", str(tmp_path / "ours.pem"))
    stream = io.BytesIO()

    context.write_context(RECIPES["base"], None, stream)

    stream.seek(0)
    with tarfile.open(fileobj=stream) as tar:
        having = [member.name for member in tar if b"our root" in tar.extractfile(member).read()]  # type: ignore[union-attr]
    assert having == ["build-time/ca.crt"]


def test_named_ca_bundle_that_is_not_there_then_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINCOSMOS_CA_BUNDLE", "/nowhere/ca.pem")

    with pytest.raises(PrerequisiteError, match=r"FINCOSMOS_CA_BUNDLE is /nowhere/ca.pem, no such file.*unset"):
        context.ca_bundle()


def test_another_mirror_then_builds_use_it_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FINCOSMOS_DEBIAN_MIRROR", "https://mirror.example/")

    assert 'Dir::Etc::sourcelist "/build-time/sources.list";' in context.apt_settings()
    assert "deb https://mirror.example/debian-security bookworm-security main\n" in context.sources_list(
        context.debian_mirror()
    )


def test_lineage_then_parents_come_first_and_once() -> None:
    assert recipes.lineage(["evaluator", "reference", "base"]) == [
        *("debian", "evaluator-deps", "evaluator", "base", "reference")
    ]


def test_installed_package_without_a_checkout_then_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recipes, "ROOT", tmp_path)

    with pytest.raises(PrerequisiteError, match="images are built from a checkout"):
        recipes.tag("base")


def test_lock_file_then_every_image_pins_the_same_versions() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "images/pin.py", "--check"], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_platforms_then_debian_12s_own_glibc_comes_first_and_none_is_newer() -> None:
    named = wheels.platforms("x86_64")

    assert named[0] == "manylinux_2_36_x86_64"
    assert "manylinux_2_17_x86_64" in named
    assert not [name for name in named if "2_37" in name]


def test_wheels_that_no_index_has_then_one_sentence_and_nothing_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    requirements = tmp_path / "box/requirements.txt"
    requirements.parent.mkdir()
    requirements.write_text(f"nothing-has-this-name==1.0 --hash=sha256:{'0' * 64}\n", encoding="utf-8")

    with pytest.raises(PrerequisiteError, match=r"could not be downloaded: .*nothing-has-this-name.*images build box"):
        wheels.download(requirements, tmp_path / "cache", lambda _line: None)

    assert not [path for path in (tmp_path / "cache/wheels").iterdir() if not path.name.endswith(".partial")]
