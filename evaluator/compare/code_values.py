"""Settings that delivered code assigns: they stand in for a specification table where the delivery has none.

Only plain assignments at the top of a program count (`COST_BPS = 10`, `CONFIG = {"weighting": "equal"}`); defaults of
functions and classes are what a program could do, not what it did. The code is parsed, never run.
"""

import ast
from collections.abc import Iterator, Sequence

from evaluator.measure.specification import Row, stated_spec
from evaluator.package.delivery import Delivery
from records.spec import DeliveredSpec

_MAX_CHARS = 200_000
_MAX_ROWS = 500
_DEEPEST = 3
_LONGEST_LIST = 4
"""A longer list of names is a catalogue of what the program could do."""


def with_code(spec: DeliveredSpec, rows: Sequence[Row], delivery: Delivery) -> tuple[DeliveredSpec, list[Row]]:
    """Return specification and rows with what code states where the tables state nothing; the tables come first."""
    written = list(code_rows(delivery))[:_MAX_ROWS]
    if not written:
        return spec, list(rows)
    found = stated_spec(written)
    fields = [
        name for name, origin in found.origins.items() if origin == "stated" and spec.origins.get(name) != "stated"
    ]
    options = {getattr(found, name) for name in fields if isinstance(getattr(found, name), str)}
    values = {key: value for key, value in found.values.items() if key.partition(".")[0] in options}
    changes = {name: getattr(found, name) for name in fields}
    origins = {**spec.origins, **dict.fromkeys(fields, "stated")}
    return spec.model_copy(update={**changes, "origins": origins, "values": {**spec.values, **values}}), [
        *rows,
        *written,
    ]


def code_rows(delivery: Delivery) -> Iterator[Row]:
    """Yield the settings of delivered Python programs, oldest first."""
    for document in sorted(delivery.documents, key=lambda document: (document.turn, document.path)):
        if document.kind == "code" and document.path.endswith(".py") and len(document.text) <= _MAX_CHARS:
            yield from _settings(document.path, document.text)


def _settings(path: str, text: str) -> Iterator[Row]:
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                yield from _rows_of(path, "", target.id, statement.value, _DEEPEST)


def _rows_of(path: str, component: str, key: str, value: ast.expr, depth: int) -> Iterator[Row]:
    if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float) and value.value is not True:
        yield Row(component, key, str(value.value), path)
    elif isinstance(value, ast.List | ast.Tuple) and value.elts:
        parts = [part.value for part in value.elts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
        if len(parts) == len(value.elts) <= _LONGEST_LIST:
            yield Row(component, key, " + ".join(parts), path)
    elif isinstance(value, ast.Dict) and depth:
        inner = key if depth < _DEEPEST else ""
        for name, part in zip(value.keys, value.values, strict=True):
            if isinstance(name, ast.Constant) and isinstance(name.value, str):
                yield from _rows_of(path, inner, name.value, part, depth - 1)
