"""The test conditions: the live and the offline set, and a reader for a file with exactly these keys."""

from datetime import date
from pathlib import Path

import yaml
from pydantic import ValidationError

from records.errors import UsageError
from records.task import Conditions

KEYS = tuple(Conditions.model_fields)


def live_conditions() -> Conditions:
    """Return the conditions of the paper: data service and open web, ten years of daily history before the last date."""
    return Conditions(t_cut=date(2025, 12, 31), start_hint=date(2016, 1, 4), channels=("fmp-mcp", "web"))


def offline_conditions() -> Conditions:
    """Return the conditions of the packaged data, which starts on 2013-01-02 and ends after t_cut on purpose."""
    return Conditions(t_cut=date(2021, 12, 31), start_hint=date(2013, 1, 2), channels=("fmp-mcp",))


def load_conditions(path: Path) -> Conditions:
    """Read conditions from a YAML file with exactly the keys of `Conditions`.

    Raises: UsageError: the file cannot be read, is no mapping, lacks a key, has another one or a value that does not fit.
    """
    try:
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"conditions file '{path}' cannot be read ({reason}); name a readable YAML file") from error
    except (yaml.YAMLError, ValueError) as error:
        where = _place(error)
        raise UsageError(f"conditions file '{path}' is not YAML{where}; expected the keys {_listing(KEYS)}") from error
    return _checked(path, loaded)


def _checked(path: Path, loaded: object) -> Conditions:
    if not isinstance(loaded, dict):
        found = "nothing" if loaded is None else type(loaded).__name__
        raise UsageError(f"conditions file '{path}': expected a mapping with the keys {_listing(KEYS)}, found {found}")
    unknown = [str(key) for key in loaded if key not in KEYS]
    missing = [key for key in KEYS if key not in loaded]
    if unknown or missing:
        parts = [f"unknown key {_listing(unknown)}"] if unknown else []
        parts += [f"missing key {_listing(missing)}"] if missing else []
        raise UsageError(f"conditions file '{path}': {' and '.join(parts)}; the keys are exactly {_listing(KEYS)}")
    try:
        conditions = Conditions.model_validate(loaded)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"conditions file '{path}': {key} = {first['input']!r} does not fit ({first['msg']})"
        ) from error
    if conditions.t_cut < conditions.start_hint:
        raise UsageError(
            f"conditions file '{path}': t_cut {conditions.t_cut} lies before start_hint {conditions.start_hint}; "
            "expected t_cut on or after start_hint"
        )
    return conditions


def _listing(keys: tuple[str, ...] | list[str]) -> str:
    return ", ".join(keys)


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1})" if mark is not None else ""
