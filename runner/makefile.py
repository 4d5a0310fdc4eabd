"""Reads a Makefile's targets, and a target's recipe as a shell script for containers without make.

Knows explicit rules, prerequisites and plain variables; anything cleverer needs make itself.
"""

import re
from dataclasses import dataclass, field
from typing import Final

_RULE = re.compile(r"^(?P<names>[\w./ -]+?)\s*:(?![=:])\s*(?P<needs>[^#;=]*)(?:;(?P<first>.*))?$")
_ASSIGN = re.compile(r"^(?:export\s+)?(?P<name>\w+)\s*(?::|\?|::)?=\s*(?P<value>.*)$")
_USE = re.compile(r"\$(?:\((\w+)\)|\{(\w+)\})")
_DEPTH: Final = 20
_MAX_LINES: Final = 5_000
_MAX_LINE: Final = 500
_BUILT_IN: Final = {"MAKE": "make", "PYTHON": "python3", "SHELL": "bash"}


@dataclass
class _Read:
    recipes: dict[str, list[str]] = field(default_factory=dict)
    needs: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=lambda: dict(_BUILT_IN))


def targets(text: str) -> tuple[str, ...]:
    """Return the explicit targets in file order, special ones such as .PHONY left out."""
    return tuple(_read(text).recipes)


def recipe(text: str, target: str) -> str:
    """Return the commands of a target and of what it needs, in order, as lines of a shell script; '' for none."""
    read = _read(text)
    lines: list[str] = []
    _collect(read, target, lines, set(), 0)
    return "\n".join(_expanded(line, read.variables) for line in lines)


def _collect(read: _Read, target: str, lines: list[str], done: set[str], depth: int) -> None:
    if target in done or target not in read.recipes or depth > _DEPTH:
        return
    done.add(target)
    for needed in read.needs[target]:
        _collect(read, needed, lines, done, depth + 1)
    lines += read.recipes[target]


def _expanded(line: str, variables: dict[str, str]) -> str:
    for _ in range(3):
        line = _USE.sub(lambda use: variables.get(use[1] or use[2], "")[:1000], line[:10_000])
    return line.replace("$$", "$")


def _read(text: str) -> _Read:
    read = _Read()
    current: list[str] = []
    for line in re.sub(r"[ \t]{0,80}\\\n[ \t]*", " ", text).splitlines()[:_MAX_LINES]:
        if len(line) > _MAX_LINE:  # the patterns below backtrack
            continue
        if line.startswith("\t"):
            for name in current:
                read.recipes[name].append(line.strip().lstrip("@-+").strip())
        elif (rule := _RULE.match(line)) is not None:
            current = [name for name in rule["names"].split() if not name.startswith(".")]
            for name in current:
                read.recipes.setdefault(name, [])
                read.needs.setdefault(name, []).extend(rule["needs"].split())
                if rule["first"]:
                    read.recipes[name].append(rule["first"].strip().lstrip("@-+").strip())
        elif (assigned := _ASSIGN.match(line)) is not None:
            read.variables[assigned["name"]] = assigned["value"].split("#", 1)[0].strip()
    return read
