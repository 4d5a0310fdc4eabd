"""Tries the layouts in order; a table that none knows comes back as it is."""

from collections.abc import Callable

from evaluator.package.formats.raw import RawTable
from evaluator.package.headers import normalised
from evaluator.package.layouts.cells import packed_cells
from evaluator.package.layouts.metatrader import deals, order_history, tester_report
from evaluator.package.layouts.pairs import paired_rows
from evaluator.package.layouts.panels import quotes_by_column
from evaluator.package.layouts.positions import market_values, tree_weights
from evaluator.package.layouts.roundtrips import round_trips
from evaluator.package.layouts.runs import split_runs

Layout = Callable[[RawTable, list[str]], list[RawTable] | None]
_LAYOUTS: tuple[Layout, ...] = (
    packed_cells,
    deals,
    order_history,
    tester_report,
    paired_rows,
    round_trips,
    quotes_by_column,
    tree_weights,
    market_values,
)


def arranged(raw: RawTable) -> list[RawTable]:
    """Return the tables a raw table stands for, each of one strategy run."""
    headers = [normalised(str(name)) for name in raw.frame.columns]
    for layout in _LAYOUTS:
        made = layout(raw, headers)
        if made is not None:
            return made
    return split_runs(raw, headers)
