"""What building leaves behind, and what it does not do twice."""

import json
import secrets
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest

from records.errors import PrerequisiteError, UsageError
from sandbox.engine import images, recipes
from sandbox.engine.recipes import RECIPES, ROOT, Recipe

CANARY = "canary-7b1f0c9e"
STAGE = f"canary-{secrets.token_hex(4)}"
"""Marks the first stages of this test run's builds."""
INSTALL = f'grep -q {CANARY} /build-time/ca.crt && [ -n "$HTTP_PROXY" ] && rm -r /build-time'


def _everything(client: docker.DockerClient, image: str) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of every file of every layer, and of the image's configuration and history."""
    yield "inspect", json.dumps(client.api.inspect_image(image)).encode()
    yield "history", json.dumps(client.api.history(image)).encode()
    with tempfile.TemporaryFile() as saved:
        for chunk in client.api.get_image(image):
            saved.write(chunk)
        saved.seek(0)
        with tarfile.open(fileobj=saved) as outer:
            for member in outer:
                file = outer.extractfile(member)
                if file is None:
                    continue
                if not member.name.endswith(".tar"):
                    yield member.name, file.read()
                    continue
                with tarfile.open(fileobj=file) as layer:
                    for entry in layer:
                        content = layer.extractfile(entry) if entry.isreg() else None
                        yield f"/{entry.name}", content.read() if content else b""


@pytest.fixture
def canary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: docker.DockerClient) -> Iterator[Recipe]:
    """A small image of the agents' Dockerfile, built with a marked CA bundle, proxy and index."""
    recipe = Recipe("canary", "debian", network=True)
    dockerfile = (ROOT / "images/base/Dockerfile").read_text(encoding="utf-8")
    folder = tmp_path / "images/canary"
    folder.mkdir(parents=True)
    dockerfile = dockerfile.replace("install requirements.txt", "install").replace("stage=build", f"stage={STAGE}")
    (folder / "Dockerfile").write_text(dockerfile, encoding="utf-8")
    (folder / "install").write_text(INSTALL, encoding="utf-8")
    (tmp_path / "ca.crt").write_text(f"# {CANARY}\n", encoding="utf-8")
    monkeypatch.setattr(recipes, "ROOT", tmp_path)
    monkeypatch.setitem(RECIPES, recipe.name, recipe)
    monkeypatch.setenv("FINCOSMOS_CA_BUNDLE", str(tmp_path / "ca.crt"))
    monkeypatch.setenv("HTTP_PROXY", f"http://user:{CANARY}@127.0.0.1:9")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://{CANARY}.invalid/simple")
    yield recipe
    for name in (recipes.tag(recipe.name), recipes.latest(recipe.name)):
        try:
            client.api.remove_image(name)
        except docker.errors.ImageNotFound:
            continue
    client.images.prune(filters={"dangling": True, "label": [f"fincosmos.stage={STAGE}"]})


@pytest.mark.docker
def test_build_with_marked_ca_and_proxy_then_nothing_of_them_is_in_the_image(
    canary: Recipe, client: docker.DockerClient
) -> None:
    images.build([canary.name], on_line=lambda _line: None)

    found = dict(_everything(client, recipes.tag(canary.name)))

    assert "/bin" in found
    assert "/etc/passwd" in found
    assert [name for name, content in found.items() if CANARY.encode() in content] == []
    assert [name for name in found if "build-time" in name] == []
    assert client.api.images(all=True, filters={"label": f"fincosmos.stage={STAGE}"}) == []


@pytest.mark.docker
def test_dockerfile_that_keeps_its_build_stage_then_the_search_finds_the_leak(
    canary: Recipe, client: docker.DockerClient
) -> None:
    dockerfile = canary.folder / "Dockerfile"
    kept = dockerfile.read_text(encoding="utf-8").replace("FROM scratch\nCOPY --from=build / /\n", "")
    dockerfile.write_text(kept, encoding="utf-8")
    images.build([canary.name], on_line=lambda _line: None)

    found = _everything(client, recipes.tag(canary.name))

    assert any(CANARY.encode() in content for _, content in found)


@pytest.mark.docker
def test_failing_step_then_the_sentence_has_its_last_words_and_nothing_is_tagged(
    canary: Recipe, client: docker.DockerClient
) -> None:
    (canary.folder / "install").write_text("echo out of luck; exit 7", encoding="utf-8")

    with pytest.raises(
        PrerequisiteError, match=r"image 'canary' could not be built: .*7.*out of luck.*runner images build canary"
    ):
        images.build([canary.name], on_line=lambda _line: None)

    assert images.missing([canary.name], client=client) == [canary.name]


@pytest.mark.docker
def test_second_build_then_no_step_runs_and_the_ids_are_equal(built: dict[str, str]) -> None:
    lines: list[str] = []

    again = images.build([], on_line=lines.append)

    assert (lines, again) == ([], built)
    assert images.missing([]) == []
    assert images.require(list(built)) == built


@pytest.mark.docker
def test_parent_built_anew_then_the_child_is_missing(
    built: dict[str, str], monkeypatch: pytest.MonkeyPatch, client: docker.DockerClient
) -> None:
    """Same recipes, another parent: the child's layers are not the parent's any more."""
    listed = client.api.images(filters={"label": recipes.KEY_LABEL})
    for image in listed:
        if recipes.tag("base") in (image["RepoTags"] or ()):
            image["Id"] = "sha256:another"
    monkeypatch.setattr(client.api, "images", lambda **_kwargs: listed)

    assert images.missing(["base", "reference", "evaluator"], client=client) == ["reference"]


@pytest.mark.docker
def test_no_environment_of_an_image_names_a_host_or_a_file_of_this_machine(
    built: dict[str, str], client: docker.DockerClient
) -> None:
    for image in built.values():
        config = client.api.inspect_image(image)["Config"]
        names = {entry.split("=", 1)[0] for entry in config["Env"]}
        assert not {name for name in names if "PROXY" in name.upper() or name.startswith(("PIP_", "SSL_", "CURL_"))}
        assert "://" not in "".join(config["Env"])


def test_unknown_image_then_one_sentence_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown image 'bse', expected one of debian, base, reference"):
        recipes.lineage(["bse"])
