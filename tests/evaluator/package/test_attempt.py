"""A whole attempt: versions, turns, groups, hostile files and the workspace archive."""

import contextlib
import io
import json
import os
import tarfile
from typing import Any

import numpy as np
import pandas as pd
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.package import constants
from evaluator.package.attempt import load_delivery
from evaluator.package.keyvalues import key_values
from evaluator.package.reading import Unreadable, read_tables
from evaluator.quant.accounting import rebuild
from evaluator.quant.panel import price_panel
from records.errors import GradingError
from tests.evaluator.worlds import CAPITAL, backtest, market, write_public

PRICES = market(end="2019-06-28")
RUN = backtest(PRICES)


def full() -> Any:
    return {
        "prices.csv": PRICES,
        "trades.csv": RUN.trades,
        "equity.csv": RUN.equity,
        "signals.csv": RUN.signals,
        "selections.csv": RUN.selections,
        "target_weights.csv": RUN.weights,
        "metrics.csv": "metric,value,basis\ntotal_return,0.1,net\n",
        "specification.csv": "component,parameter,value,source,definition\nexecution,rule,next_open,own choice,t+1\n",
        "sources.csv": "series,endpoint,query_parameters,retrieved_at,rows\nprices,/eod,symbol=A,2026-01-01,9\n",
        "backtest.py": "print(1)\n",
        "report.md": "# Report\n",
        "stress/trades.csv": RUN.trades,
        "stress/specification.csv": "component,parameter,value\nrisk_control,threshold,5\n",
    }


def test_reference_layout_is_read_completely(tmp_path: Any) -> None:
    delivery = load_delivery(write_public(tmp_path, {1: full()}))

    assert delivery.refused == ()
    assert {table.path: table.role for table in delivery.tables} == {
        "prices.csv": "prices",
        "trades.csv": "trades",
        "equity.csv": "equity",
        "signals.csv": "signals",
        "selections.csv": "selections",
        "target_weights.csv": "weights",
        "metrics.csv": "metrics",
        "specification.csv": "spec",
        "sources.csv": "sources",
        "stress/trades.csv": "trades",
        "stress/specification.csv": "spec",
    }
    assert [table.path for table in delivery.of("trades", group="stress")] == ["stress/trades.csv"]
    assert {document.path: document.kind for document in delivery.documents} == {
        "backtest.py": "code",
        "report.md": "report",
    }
    assert [message.role for message in delivery.messages] == ["user", "agent"]
    assert key_values(delivery) == {"execution/rule": "next_open"}
    assert key_values(delivery, group="stress") == {"risk_control/threshold": "5"}


def test_delivered_tables_rebuild_the_backtest(tmp_path: Any) -> None:
    delivery = load_delivery(write_public(tmp_path, {1: full()}))
    panel = price_panel(delivery.of("prices")[0].frame)
    made = rebuild(delivery.of("trades")[0].frame, panel, capital=CAPITAL)

    np.testing.assert_allclose(made.equity, delivery.of("equity")[0].frame["equity"], rtol=1e-9)


def test_last_version_counts_and_earlier_turns_can_be_asked_for(tmp_path: Any) -> None:
    public = write_public(
        tmp_path,
        {1: {"report.md": "first", "old.md": "kept"}, 2: {"report.md": "second"}, 3: {"report.md": "third"}},
    )
    texts = {d.path: (d.text, d.turn) for d in load_delivery(public).documents}

    assert texts == {"report.md": ("third", 3), "old.md": ("kept", 1)}
    early = load_delivery(public, up_to_turn=2)
    assert {d.text for d in early.documents} == {"second", "kept"}
    assert [message.turn for message in early.messages] == [0, 1, 2]


def test_nothing_delivered_is_an_empty_delivery(tmp_path: Any) -> None:
    delivery = load_delivery(write_public(tmp_path, {1: {}}))

    assert delivery.tables == delivery.documents == delivery.refused == delivery.late_workspace_files == ()


def test_records_of_ours_that_are_missing_are_our_fault(tmp_path: Any) -> None:
    with pytest.raises(GradingError, match=r"task\.json"):
        load_delivery(tmp_path)
    public = write_public(tmp_path, {1: {}})
    (public / "session.jsonl").write_text('{"kind": "nonsense"}\n', encoding="utf-8")
    with pytest.raises(GradingError, match=r"session\.jsonl"):
        load_delivery(public)


def test_links_pipes_and_pickles_are_refused(tmp_path: Any) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("date,symbol,close\n2020-01-02,A,1\n", encoding="utf-8")
    public = write_public(tmp_path, {1: {"model.pkl": b"\x80\x04N.", "report.md": "ok"}})
    deliver = public / "turns" / "1" / "deliver"
    (deliver / "link.csv").symlink_to(secret)
    (deliver / "folder").symlink_to(tmp_path)
    os.mkfifo(deliver / "pipe.csv")
    delivery = load_delivery(public)

    assert delivery.tables == ()
    assert len(delivery.refused) == 4
    assert sum("is a link" in sentence for sentence in delivery.refused) == 2
    assert any("no ordinary file" in sentence for sentence in delivery.refused)
    assert any(sentence.startswith("model.pkl") for sentence in delivery.refused)


def test_deliver_folder_that_is_a_link_is_not_followed(tmp_path: Any) -> None:
    public = write_public(tmp_path, {1: {}})
    deliver = public / "turns" / "1" / "deliver"
    deliver.rmdir()
    deliver.symlink_to(tmp_path)

    assert "link" in load_delivery(public).refused[0]


def test_oversize_file_and_endless_folders_are_refused(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluator.package.files.MAX_FILE_BYTES", 100)
    public = write_public(tmp_path, {1: {"big.csv": "x" * 101, "/".join("abcdefghijklmnop") + "/x.md": "deep"}})
    refused = load_delivery(public).refused

    assert any("101 bytes" in sentence for sentence in refused)
    assert any("deeper" in sentence for sentence in refused)


def test_too_many_files_are_cut_off_in_words(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluator.package.files.MAX_FILES", 3)
    delivery = load_delivery(write_public(tmp_path, {1: {f"{i}.md": "x" for i in range(5)}}))

    assert len(delivery.documents) == 3
    assert len(delivery.refused) == 2


BROKEN = {
    "nul.csv": b"a,b\x00\n1,2\n",
    "empty.csv": b"",
    "half.json": b'{"a": [1, 2',
    "deep.json": b"[" * 5000 + b"]" * 5000,
    "nested.json": b'{"a": ' * 20 + b"1" + b"}" * 20,
    "text.json": b'"hello"',
    "not.parquet": b"PAR1 nonsense PAR1",
    "bomb.yaml": b"a: &a [x,x]\nb: &b [" + b",".join([b"*a"] * 2000) + b"]\n",
    "tag.yaml": b"!!python/object/apply:os.system ['true']\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file_is_a_sentence(tmp_path: Any, name: Any) -> None:
    delivery = load_delivery(write_public(tmp_path, {1: {name: BROKEN[name], "report.md": "ok"}}))

    assert delivery.tables == ()
    assert [sentence.split(":")[0] for sentence in delivery.refused] == [name]
    assert "report.md" in {document.path for document in delivery.documents}


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.sampled_from([".csv", ".tsv", ".json", ".jsonl", ".parquet"]))
def test_random_bytes_never_raise_anything_else(data: Any, suffix: Any) -> None:
    with contextlib.suppress(Unreadable):
        assert read_tables(data, suffix)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["date", "symbol", "price", "quantity", "side", "weight", "value", "metric", "close", "fee", "x"]
        ),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.lists(st.text(max_size=8), min_size=1, max_size=8), max_size=6),
)
def test_strange_tables_are_read_or_refused(tmp_path_factory: Any, headers: Any, rows: Any) -> None:
    lines = [",".join(headers), *(",".join(cell.replace(",", " ") for cell in row) for row in rows)]
    public = write_public(tmp_path_factory.mktemp("strange"), {1: {"trades.csv": "\n".join(lines)}})
    delivery = load_delivery(public)

    # A file may hold several runs, each a table of its own.
    assert len(delivery.tables) + len(delivery.refused) >= 1
    assert {table.path.split("#")[0] for table in delivery.tables} <= {"trades.csv"}


def test_parquet_larger_than_the_cap_is_refused_before_it_is_read(monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluator.package.formats.raw.MAX_ROWS", 10)
    buffer = io.BytesIO()
    pd.DataFrame({"a": np.zeros(1000)}).to_parquet(buffer)

    with pytest.raises(Unreadable, match="1000 rows"):
        read_tables(buffer.getvalue(), ".parquet")
    with pytest.raises(Unreadable, match="20 rows"):
        read_tables(b"a\n" + b"1\n" * 20, ".csv")


def archive(public: Any, files: Any) -> Any:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            data = content if isinstance(content, bytes) else content.encode()
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
        link = tarfile.TarInfo("workspace/link.csv")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(link)
    (public / "workspace.tar.zst").write_bytes(zstandard.compress(buffer.getvalue()))


LATE = "date,symbol,close\n2021-12-31,A,1\n2022-01-03,A,2\n"
FINE = "date,symbol,close\n2021-12-30,A,1\n2021-12-31,A,2\n"


def test_late_data_files_of_the_workspace_are_named(tmp_path: Any) -> None:
    public = write_public(tmp_path, {1: {}})
    parquet = io.BytesIO()
    pd.DataFrame({"date": pd.to_datetime(["2022-03-01"]), "close": [1.0]}).to_parquet(parquet)
    archive(
        public,
        {
            "workspace/cache/late.csv": LATE,
            "workspace/cache/fine.csv": FINE,
            "workspace/deliver/prices.csv": LATE,
            "workspace/.venv/lib/site-packages/x.csv": LATE,
            "workspace/cache/compact.csv": LATE.replace("-", ""),
            "workspace/cache/rows.json": json.dumps([{"date": "2022-01-03", "close": 1}]),
            "workspace/cache/late.parquet": parquet.getvalue(),
            "workspace/log.csv": "retrieved_at,rows\n2026-01-01,5\n2026-01-02,6\n",
            "workspace/notes.txt": "2025-01-01",
        },
    )

    assert set(load_delivery(public).late_workspace_files) == {
        "cache/late.csv",
        "cache/compact.csv",
        "cache/rows.json",
        "cache/late.parquet",
    }
    assert load_delivery(public, up_to_turn=1).late_workspace_files == ()


def test_broken_or_oversize_archive_is_a_note(tmp_path: Any, monkeypatch: Any) -> None:
    public = write_public(tmp_path, {1: {}})
    archive(public, {"workspace/late.csv": LATE})
    whole = (public / "workspace.tar.zst").read_bytes()
    (public / "workspace.tar.zst").write_bytes(whole[: len(whole) // 2])
    assert "fault" in load_delivery(public).refused[0]
    (public / "workspace.tar.zst").write_bytes(b"no archive")
    assert "fault" in load_delivery(public).refused[0]
    (public / "workspace.tar.zst").write_bytes(whole)
    monkeypatch.setattr("evaluator.package.workspace.WORKSPACE_FILE_BYTES", 10)
    assert "not scanned" in load_delivery(public).refused[0]


def test_caps_fit_the_evaluators_memory() -> None:
    assert constants.MAX_CELLS * 8 < 512 * constants.MIB
