"""The golden world as the tables a delivery holds."""

import pandas as pd

from .third_way_book import Book
from .world import STATEMENT_FIELDS, SYMBOLS, World


def prices(world: World) -> pd.DataFrame:
    """Long price table, date then symbol."""
    days = pd.DatetimeIndex(pd.to_datetime(list(world.sessions)))
    tables = [
        pd.DataFrame(
            {
                "date": days,
                "symbol": symbol,
                "open": world.open[symbol],
                "high": world.high[symbol],
                "low": world.low[symbol],
                "close": world.close[symbol],
                "adj_close": world.adj_close[symbol],
                "volume": world.volume[symbol],
                "dividends": world.dividends[symbol],
                "stock_splits": 0.0,
            }
        )
        for symbol in SYMBOLS
    ]
    return pd.concat(tables).sort_values(["date", "symbol"], ignore_index=True)


def market(world: World, *, column: str) -> pd.DataFrame:
    """SPY and VIX, values in `column`."""
    days = pd.DatetimeIndex(pd.to_datetime(list(world.sessions)))
    return pd.concat(
        [
            pd.DataFrame({"date": days, "symbol": "SPY", column: world.spy}),
            pd.DataFrame({"date": days, "symbol": "^VIX", column: world.vix}),
        ],
        ignore_index=True,
    )


def fundamentals(world: World) -> pd.DataFrame:
    """One row per statement."""
    rows = [
        {
            "symbol": s.symbol,
            "period_end": pd.Timestamp(s.period_end),
            "announced": pd.Timestamp(s.announced),
            **{field: s.items[field] for field in STATEMENT_FIELDS},
        }
        for s in world.statements
    ]
    return pd.DataFrame(rows)


def trades(world: World, book: Book) -> pd.DataFrame:
    """One row per fill."""
    stamps = [pd.Timestamp(day) for day in world.sessions]
    return pd.DataFrame(
        [
            {
                "fill_id": str(k),
                "signal_date": stamps[f.signal],
                "date": stamps[f.session],
                "symbol": f.symbol,
                "side": float(f.side),
                "quantity": float(f.quantity),
                "price": f.price,
                "fee": f.fee,
                "reason": f.reason,
            }
            for k, f in enumerate(book.fills)
        ]
    )


def equity(world: World, book: Book) -> pd.Series:
    """Equity by session."""
    return pd.Series(
        list(book.equity.values()), index=pd.DatetimeIndex([pd.Timestamp(world.sessions[i]) for i in book.equity])
    )
