"""The texts that ship with the generator: convictions, openings and words for ids. Texts only, no choices."""

import json
from functools import cache
from importlib.resources import files


def _text(name: str) -> str:
    return (files("generator") / "data" / name).read_text(encoding="utf-8")


@cache
def convictions() -> dict[str, dict[str, str]]:
    """Return, per item id, its conviction `text`, for an option its `opening` noun phrase, for a factor its `short` name."""
    found: dict[str, dict[str, str]] = json.loads(_text("convictions.json"))
    return found


@cache
def openings() -> dict[str, dict[str, str]]:
    """Return, per persona, the templates of the first message."""
    found: dict[str, dict[str, str]] = json.loads(_text("openings.json"))
    return found


@cache
def words() -> tuple[str, ...]:
    """Return the words that task ids are made of; their order is part of the released benchmark."""
    return tuple(_text("words.txt").split())


@cache
def task_set_key() -> bytes:
    """Return the key of the released task set."""
    return bytes.fromhex(_text("task_set_key.txt").strip())


@cache
def frozen_hashes() -> dict[str, dict[str, str]]:
    """Return, per frozen seed as text, its task id and content hash."""
    found: dict[str, dict[str, str]] = json.loads(_text("frozen.json"))
    return found
