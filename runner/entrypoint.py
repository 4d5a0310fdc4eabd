"""Which program of a delivery makes its results: the README's command, run.sh, a Makefile target, a script, a notebook.

Works on names and text alone; nothing is parsed as code here, since a hostile file may bring a parser down.
"""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final

from records.rerun import EntryKind
from runner.makefile import targets

CODE_SUFFIXES: Final = (".py", ".sh", ".ipynb")
MAKEFILES: Final = ("makefile", "gnumakefile")
_README = re.compile(r"readme(\.(md|markdown|txt|rst))?", re.IGNORECASE)
_MAIN = re.compile(r"""^if\s+__name__\s*==\s*['"]__main__['"]""", re.MULTILINE)
_PREFERRED = re.compile(r"back_?test|(^|_)run(_|$)|(^|_)main(_|$)|strateg|simulat|pipeline", re.IGNORECASE)
_NO_PROGRAM = re.compile(r"^(test_.*|.*_test|conftest|setup|__init__)$")
_IMPORT = re.compile(r"^[ \t]*(?:from|import)[ \t]+\.?([A-Za-z_]\w*)", re.MULTILINE)
_PYTHON = re.compile(r"(.*/)?python(3(\.\d+)?)?$")
_GOALS: Final = ("run", "backtest", "reproduce", "all")
_MAX_LINES: Final = 5_000
_MAX_LINE: Final = 500


@dataclass(frozen=True)
class Entry:
    """What is started, and why that."""

    kind: EntryKind
    file: str
    argv: tuple[str, ...]
    why: str
    cwd: str = "."
    """Relative to the delivery; '..' is the workspace."""


def is_code(path: str) -> bool:
    """Return whether a delivered file is a program."""
    name = PurePosixPath(path).name.lower()
    return name.endswith(CODE_SUFFIXES) or name in MAKEFILES


def entry_point(texts: Mapping[str, str]) -> Entry | None:
    """Return where to start. `texts` maps every delivered path to its first text, '' for what is no text."""
    return _readme(texts) or _shell(texts) or _makefile(texts) or _script(texts) or _notebook(texts)


def _readme(texts: Mapping[str, str]) -> Entry | None:
    """Return the README's command that names a delivered program; one whose name says backtest or run comes first."""
    for path in sorted(texts, key=_shallow):
        if _README.fullmatch(PurePosixPath(path).name) is None:
            continue
        found = [entry for words in _commands(texts[path]) if (entry := _command(words, path, texts)) is not None]
        if found:
            return next((entry for entry in found if _is_preferred(entry.file)), found[0])
    return None


def _commands(text: str) -> Iterable[list[str]]:
    """Yield every line, and every piece of code in a line, that reads as a command."""
    for line in text.splitlines()[:_MAX_LINES]:
        if len(line) > _MAX_LINE:
            continue
        for part in (line, *re.findall(r"`([^`]+)`", line)):
            for command in part.split("&&"):
                try:
                    words = shlex.split(command.strip().lstrip("$>").strip(" `"), comments=True)
                except ValueError:
                    continue
                while words and re.fullmatch(r"[A-Za-z_]\w*=\S*", words[0]):
                    del words[0]
                if words and not any(set(word) & set(";|<>&") for word in words):
                    yield words


def _command(words: Sequence[str], readme: str, texts: Mapping[str, str]) -> Entry | None:
    """Return the entry that a command means; None when it names no delivered program."""
    program, rest = words[0], list(words[1:])
    if program == "make" and any(PurePosixPath(path).name.lower() in MAKEFILES for path in texts):
        return _makefile(texts, goals=[word for word in rest if not word.startswith("-")][:1], why=f"{readme} says so")
    prefix: tuple[str, ...]
    if _PYTHON.match(program) and rest:
        prefix = ("python3",)
        if rest[0] == "-m" and len(rest) > 1:
            rest = [rest[1].replace(".", "/") + ".py", *rest[2:]]
    elif program in ("bash", "sh") and rest:
        prefix = (program,)
    elif program.startswith("./"):
        prefix, rest = ("bash",) if program.endswith(".sh") else ("python3",), [program, *rest]
    else:
        return None
    found = _located(rest[0], readme, texts)
    if found is None or not is_code(found[0]) or found[0].endswith(".ipynb"):
        return None
    file, cwd = found
    return Entry("readme", file, (*prefix, *rest), f"{readme} says: {shlex.join(words)}", cwd)


def _located(word: str, readme: str, texts: Mapping[str, str]) -> tuple[str, str] | None:
    """Return (delivered file, working directory) of a path in a command."""
    path = PurePosixPath(word)
    if path.is_absolute():
        inside = word.removeprefix("/workspace/deliver/")
        return (inside, ".") if inside in texts else None
    plain = str(path)
    folder = str(PurePosixPath(readme).parent)
    below = str(PurePosixPath(folder) / path)
    if below in texts:
        return below, folder
    if plain in texts:
        return plain, "."
    inside = plain.removeprefix("deliver/")
    return (inside, "..") if inside != plain and inside in texts else None


def _shell(texts: Mapping[str, str]) -> Entry | None:
    """Return run.sh, or the only shell script."""
    scripts = sorted((path for path in texts if path.lower().endswith(".sh")), key=_shallow)
    named = [path for path in scripts if PurePosixPath(path).name.lower() == "run.sh"]
    if named or len(scripts) == 1:
        file = (named or scripts)[0]
        why = "run.sh is delivered" if named else f"{file} is the only shell script"
        return Entry("shell", file, ("bash", PurePosixPath(file).name), why, str(PurePosixPath(file).parent))
    return None


def _makefile(texts: Mapping[str, str], *, goals: Sequence[str] = (), why: str = "") -> Entry | None:
    """Return a target of the topmost Makefile: the given one, else run, backtest, reproduce, all or the first."""
    for path in sorted(texts, key=_shallow):
        if PurePosixPath(path).name.lower() not in MAKEFILES:
            continue
        known = targets(texts[path])
        goal = next((name for name in (*goals, *_GOALS) if name in known), next(iter(known), None))
        if goal is not None:
            argv = ("make", "-f", PurePosixPath(path).name, goal)
            said = why or f"{path} has the target '{goal}'"
            return Entry("makefile", path, argv, said, str(PurePosixPath(path).parent))
    return None


def _script(texts: Mapping[str, str]) -> Entry | None:
    """Return the script with a main guard; without any, the one script that no other imports."""
    scripts = {
        path: text
        for path, text in texts.items()
        if path.lower().endswith(".py") and not _NO_PROGRAM.match(PurePosixPath(path).stem.lower())
    }
    guarded = sorted((path for path, text in scripts.items() if _MAIN.search(text)), key=_rank)
    if guarded:
        what = "the only script" if len(guarded) == 1 else f"the likeliest of {len(guarded)} scripts"
        return _python(guarded[0], f"{guarded[0]} is {what} with a __main__ part")
    imported = {name for text in scripts.values() for name in _IMPORT.findall(text)}
    free = [path for path in scripts if PurePosixPath(path).stem not in imported]
    if len(free) == 1:
        return _python(free[0], f"{free[0]} is the only script that no other imports")
    return None


def _python(file: str, why: str) -> Entry:
    return Entry("script", file, ("python3", PurePosixPath(file).name), why, str(PurePosixPath(file).parent))


def _notebook(texts: Mapping[str, str]) -> Entry | None:
    """Return the likeliest notebook; how it is run depends on what the container has."""
    notebooks = sorted((path for path in texts if path.lower().endswith(".ipynb")), key=_rank)
    if not notebooks:
        return None
    file = notebooks[0]
    why = f"{file} is {'the only' if len(notebooks) == 1 else f'the likeliest of {len(notebooks)}'} notebook"
    return Entry("notebook", file, (), why, str(PurePosixPath(file).parent))


def _is_preferred(path: str) -> bool:
    return _PREFERRED.search(PurePosixPath(path).stem) is not None


def _shallow(path: str) -> tuple[int, str]:
    return path.count("/"), path


def _rank(path: str) -> tuple[bool, int, str]:
    return not _is_preferred(path), *_shallow(path)
