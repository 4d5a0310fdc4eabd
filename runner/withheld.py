"""Which delivered files are results: code that is run again must make these itself."""

import re
from pathlib import PurePosixPath
from typing import Final

_RESULT: Final = re.compile(
    r"(^|_)(trades?|tradelog|trade_?log|fills?|orders?|executions|transactions|blotter|ledger|equity|"
    r"equity_?curve|nav|pnl|returns|portfolio|backtest|metrics?|performance|summary|results?|stats|statistics)(_|$)|"
    r"^(account_)?values?$"
)
_DATA: Final = frozenset(
    (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".xlsx", ".xls", ".db", ".sqlite", ".gz")
)


def is_result(path: str) -> bool:
    """Return whether the name of a data file says trade log, equity or metrics."""
    place = PurePosixPath(path)
    stem = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", place.name.split(".", 1)[0]).lower())
    return place.suffix.lower() in _DATA and _RESULT.search(stem) is not None
