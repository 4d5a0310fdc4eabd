"""Specification and configuration as key-values: tables, JSON and YAML alike."""

import pandas as pd
import yaml

from evaluator.package.constants import MAX_CONFIG_BYTES
from evaluator.package.delivery import Delivery
from evaluator.package.headers import normalised
from evaluator.package.reading import FAULTS, RawTable, Unreadable, flatten


def yaml_table(data: bytes) -> RawTable:
    """Return a YAML mapping as key and value. Raises Unreadable with the reason."""
    if len(data) > MAX_CONFIG_BYTES:
        raise Unreadable(f"a configuration of {len(data)} bytes, at most {MAX_CONFIG_BYTES} are read")
    if data.count(b"&") > 100 or data.count(b"*") > 1000:
        raise Unreadable("the YAML repeats itself by anchors, which is not followed")
    try:
        found = yaml.safe_load(data.decode("utf-8-sig"))
        flat = flatten(found) if isinstance(found, dict) else None
    except Unreadable:
        raise
    except (*FAULTS, yaml.YAMLError) as error:
        raise Unreadable(f"{type(error).__name__}: {str(error)[:200]}") from error
    if flat is None:
        raise Unreadable("the YAML is no mapping")
    return RawTable("", pd.DataFrame({"key": list(flat), "value": [str(v) for v in flat.values()]}))


def key_values(delivery: Delivery, *, group: str = "main") -> dict[str, str]:
    """Return 'component/key' (normalised; just 'key' without component) -> value of all spec tables of a group.

    A later turn's value replaces an earlier one; within a turn the first path in order counts.
    """
    out: dict[str, tuple[int, str]] = {}
    for table in delivery.of("spec", group=group):
        frame = table.frame
        if not {"key", "value"} <= set(frame.columns):
            continue
        components = frame["component"] if "component" in frame.columns else pd.Series("", index=frame.index)
        for component, key, value in zip(components, frame["key"], frame["value"], strict=True):
            if key is None or value is None or key != key or value != value:  # noqa: PLR0124 -- NaN
                continue
            parts = [normalised(str(part)) for part in (component, key) if part is not None and str(part).strip()]
            name = "/".join(part for part in parts if part)
            if name not in out or out[name][0] < table.turn:
                out[name] = (table.turn, str(value).strip())
    return {name: value for name, (_, value) in out.items()}
