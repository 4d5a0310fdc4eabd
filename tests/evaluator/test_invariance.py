"""What must not change a score: order, names, shape, time zones and units; and what changes one and nothing else."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.compare.run import compare
from evaluator.measure.case import Case
from evaluator.measure.run import measure
from evaluator.package.attempt import load_delivery
from tests.evaluator.deliveries import Delivered, clean, strategy

pytestmark = pytest.mark.thorough

BY_ALIAS: dict[str, dict[str, tuple[str, ...]]] = {
    "prices": {
        "date": ("Date", "timestamp", "trade_date"),
        "symbol": ("Ticker", "asset", "security"),
        "close": ("Close", "px_last", "close_price"),
        "adj_close": ("Adj Close", "adjclose", "adjusted_close"),
        "volume": ("Volume", "vol"),
    },
    "trades": {
        "fill_date": ("Fill Date", "exec_date", "execution_date"),
        "symbol": ("ticker", "instrument"),
        "side": ("Action", "buy_sell"),
        "quantity": ("Shares", "qty", "filled_qty"),
        "price": ("Fill Price", "exec_price", "avg_price"),
        "fee": ("Commission", "transaction_cost"),
    },
    "target_weights": {"date": ("rebalance_date", "Date"), "weight": ("Target Weight", "allocation")},
    "equity": {"date": ("Date", "day"), "equity": ("NAV", "Portfolio Value", "total_value")},
}


def scores(root: Path, delivered: Delivered, edit: Callable[[Path], None] | None = None) -> dict[str, int]:
    public = delivered.write(root)
    if edit is not None:
        edit(public / "turns" / "1" / "deliver")
    delivery = load_delivery(public)
    measurement = measure(delivery)
    judgements = (
        *measurement.measured.judgements,
        *compare(delivery, measurement.spec, strategy()).compared.judgements,
    )
    return {judgement.dimension: judgement.score for judgement in judgements if judgement.score is not None}


@cache
def base() -> dict[str, int]:
    import tempfile  # noqa: PLC0415 -- once for the module

    with tempfile.TemporaryDirectory() as folder:
        return scores(Path(folder), clean())


def changed(found: dict[str, int]) -> set[str]:
    return {dimension for dimension in base().keys() | found.keys() if base().get(dimension) != found.get(dimension)}


FEW = settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck))


@FEW
@given(seed=st.integers(0, 2**16))
def test_order_of_rows_changes_no_score(tmp_path_factory: Any, seed: int) -> None:
    delivered = clean()
    for name, table in delivered.tables.items():
        delivered.tables[name] = table.sample(frac=1, random_state=seed)
    # Fills of one day are an order of their own in a log without times: sells must come first.
    trades = delivered.tables["trades"]
    delivered.tables["trades"] = trades.sort_values("side", ascending=False, kind="stable")

    assert changed(scores(tmp_path_factory.mktemp("order"), delivered)) == set()


@FEW
@given(data=st.data())
def test_names_of_columns_change_no_score(tmp_path_factory: Any, data: Any) -> None:
    delivered = clean()
    for name, columns in BY_ALIAS.items():
        names = {column: data.draw(st.sampled_from(options)) for column, options in columns.items()}
        delivered.tables[name] = delivered.tables[name].rename(columns=names)

    assert changed(scores(tmp_path_factory.mktemp("names"), delivered)) == set()


@pytest.mark.parametrize("table", ["target_weights", "prices"])
def test_wide_and_long_tables_score_alike(tmp_path: Path, table: str) -> None:
    delivered = clean()
    long = delivered.tables[table]
    if table == "prices":
        fields = [name for name in long.columns if name not in ("date", "symbol")]
        wide = long.pivot_table(index="date", columns="symbol", values=fields)
        delivered.tables[table] = wide.set_axis(
            [f"{symbol}_{field}" for field, symbol in wide.columns], axis=1
        ).reset_index()
    else:
        delivered.tables[table] = (
            long.pivot_table(index="date", columns="symbol", values="weight").fillna(0.0).reset_index()
        )

    assert changed(scores(tmp_path, delivered)) == set()


@pytest.mark.parametrize(
    "zone",
    ["UTC close", pytest.param("New York", marks=pytest.mark.slow), pytest.param("UTC label", marks=pytest.mark.slow)],
)
def test_time_zones_change_no_score(tmp_path: Path, zone: str) -> None:
    delivered = clean()
    for name, table in delivered.tables.items():
        moved = table.copy()
        for column in ("date", "fill_date", "signal_date"):
            if column in moved.columns:
                local = pd.to_datetime(moved[column]).dt.tz_localize("America/New_York")
                stamps = {
                    "UTC close": (local + pd.Timedelta(hours=16)).dt.tz_convert("UTC"),
                    "New York": local,
                    "UTC label": pd.to_datetime(moved[column]).dt.tz_localize("UTC"),
                }[zone]
                moved[column] = stamps.map(lambda stamp: stamp.isoformat(sep=" "))
        delivered.tables[name] = moved

    assert changed(scores(tmp_path, delivered)) == set()


@FEW
@given(at=st.integers(0, 40), share=st.floats(0.1, 0.9))
def test_one_fill_in_two_changes_no_score(tmp_path_factory: Any, at: int, share: float) -> None:
    delivered = clean()
    trades = delivered.tables["trades"].astype({"quantity": float})
    row = trades.iloc[[at % len(trades)]]
    first = max(1.0, np.floor(float(row["quantity"].iloc[0]) * share))
    rest = float(row["quantity"].iloc[0]) - first
    if rest <= 0 or rest == first:
        return
    whole = float(row["quantity"].iloc[0])
    parts = [row.assign(quantity=size, fee=row["fee"] * size / whole) for size in (first, rest)]
    place = trades.index.get_loc(row.index[0])
    delivered.tables["trades"] = pd.concat([trades.iloc[:place], *parts, trades.iloc[place + 1 :]]).assign(
        fill_id=lambda frame: range(1, len(frame) + 1)
    )
    metrics = delivered.tables["metrics"]
    metrics["value"] = metrics["value"].where(metrics["metric"] != "trades", len(trades) + 1)
    delivered.report = delivered.report.replace(f"{len(trades)} trades", f"{len(trades) + 1} trades")

    assert changed(scores(tmp_path_factory.mktemp("split"), delivered)) == set()


@pytest.mark.parametrize(
    "factor", [pytest.param(0.5, marks=pytest.mark.slow), pytest.param(3.0, marks=pytest.mark.slow), 1000.0]
)
def test_scale_of_the_book_leaves_its_returns(tmp_path: Path, factor: float) -> None:
    books = []
    for name, by in (("one", 1.0), ("scaled", factor)):
        delivered = clean()
        delivered.tables["trades"] = delivered.tables["trades"].assign(
            quantity=lambda frame, by=by: frame["quantity"] * by, fee=lambda frame, by=by: frame["fee"] * by
        )
        equity = delivered.tables["equity"]
        delivered.tables["equity"] = equity.assign(equity=equity["equity"] * by, cash=equity["cash"] * by)
        spec = delivered.tables["specification"]
        spec.loc[spec["parameter"] == "capital", "value"] = str(1_000_000 * by)
        books.append(Case(load_delivery(delivered.write(tmp_path / name))).rebuilt)

    np.testing.assert_allclose(books[0].equity / books[0].capital, books[1].equity / books[1].capital, rtol=1e-9)


@pytest.mark.parametrize("day", ["2019-01-02", pytest.param("2019-06-03", marks=pytest.mark.slow)])
def test_one_data_row_after_the_cut_changes_1_1_alone(tmp_path: Path, day: str) -> None:
    delivered = clean()
    prices = delivered.tables["prices"]
    late = prices.groupby("symbol").tail(1).head(1).assign(date=pd.Timestamp(day))
    delivered.tables["prices"] = pd.concat([prices, late], ignore_index=True)

    # A stray row months later is a gap of its own in the data, which 1.4 says as well.
    assert changed(scores(tmp_path, delivered)) - {"1.4"} == {"1.1"}


def test_missing_log_changes_what_is_read_from_it(tmp_path: Path) -> None:
    delivered = clean()
    del delivered.tables["trades"]
    found = changed(scores(tmp_path, delivered))

    assert {"3.2", "3.7", "3.8"} <= found
    # Entry timing, stops, costs and reasons are judged on fills; without any they cannot stand.
    assert found <= {"3.2", "3.7", "3.8", "2.12", "3.1", "3.5", "2.4", "2.5", "2.6", "4.2"}


def test_file_that_cannot_be_read_changes_no_other_dimension(tmp_path: Path) -> None:
    def add(deliver: Path) -> None:
        (deliver / "model.pkl").write_bytes(b"\x80\x04.")
        (deliver / "chart.png").write_bytes(b"\x89PNG")

    assert changed(scores(tmp_path, clean(), add)) == set()
