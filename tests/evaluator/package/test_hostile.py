"""Files made to hurt the reader: each is a sentence, and the rest of the delivery is read as if it were not there."""

import gzip
import io
import json
import sqlite3
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evaluator.package import constants
from evaluator.package.formats import archives
from evaluator.package.reading import Unreadable, read_tables

GOOD = "date,symbol,close,open\n2020-01-02,A,1,1\n2020-01-03,A,2,2\n"


def zeros_gz(size: int) -> bytes:
    """Return a .gz of zeros without ever holding them."""
    engine = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(1 << 20)
    return b"".join([*(engine.compress(block) for _ in range(size >> 20)), engine.flush()])


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_csv", ".csv").replace("_zip", ".zip"), content)
    return buffer.getvalue()


def link_in_zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("link.csv")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
        archive.writestr("../../escape.csv", GOOD)
        archive.writestr("/absolute.csv", GOOD)
    return buffer.getvalue()


def xlsx(cell: str, *, inflated: int = 0) -> bytes:
    """Return a workbook with one value in one cell, and a padding of zeros."""
    parts = {
        "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        'content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
        'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://'
        'schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="S" sheetId="1" r:id="r1"/>'
        "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
        'Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f'<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="{cell.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")}">'
        f'<c r="{cell}"><v>2</v></c></row></sheetData></worksheet>' + " " * inflated,
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def sqlite(*statements: str, tmp: Path) -> bytes:
    path = tmp / "made.db"
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path.read_bytes()


def deep(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


def parquet_text(rows: int, length: int) -> bytes:
    """Return a parquet file of one long text that a dictionary repeats."""
    buffer = io.BytesIO()
    index = pa.array(np.zeros(rows, dtype=np.int32))
    table = pa.table({"date": pa.DictionaryArray.from_arrays(index, pa.array(["x" * length]))})
    pq.write_table(table, buffer, use_dictionary=True, compression="snappy")
    return buffer.getvalue()


FILES: dict[str, Any] = {
    "zeros.csv.gz": lambda: zeros_gz(256 << 20),
    "zeros.zip": lambda: zipped(big_csv=bytes(64 << 20)),
    "nested.zip": lambda: zipped(inner_zip=zipped(prices_csv=GOOD.encode())),
    "leading_out.zip": link_in_zip,
    "cut.csv.gz": lambda: gzip.compress(GOOD.encode() * 1000)[:-20],
    "no.zip": lambda: b"PK\x03\x04 nonsense",
    "model.pkl": lambda: b"cos\nsystem\n(S'touch owned'\ntR.",
    "arrays.npz": lambda: zipped(a=b"\x93NUMPY"),
    "model.joblib": lambda: b"\x80\x04.",
    "corner.xlsx": lambda: xlsx("XFD1048576"),
    "wide.xlsx": lambda: xlsx("XFD1"),
    "padded.xlsx": lambda: xlsx("A2", inflated=64 << 20),
    "no.xls": lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000),
    "deep.json": lambda: deep(200_000),
    "deep_list.json": lambda: b"[" * 100_000 + b"]" * 100_000,
    "digits.json": lambda: b'[{"a": ' + b"9" * 1_000_000 + b"}",
    "columns.csv": lambda: b",".join(b"c%d" % n for n in range(1_000_000)) + b"\n1\n",
    "no.parquet": lambda: b"PAR1" + bytes(100) + struct.pack("<I", 2**31 - 1) + b"PAR1",
    "long_text.parquet": lambda: parquet_text(200_000, 100_000),
    "no.feather": lambda: b"ARROW1\0\0" + bytes(64) + b"ARROW1",
    "no.sqlite": lambda: b"SQLite format 3\0" + bytes(84),
    "bom.csv": lambda: b"\xff\xfe" + b"\x00\xd8" * 1000,
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_file_is_a_sentence_and_costs_nothing_else(deliver: Any, name: str) -> None:
    delivery = deliver({name: FILES[name](), "prices.csv": GOOD, "report.md": "# Report\n"})

    assert delivery.refused
    assert all(sentence.startswith(name) for sentence in delivery.refused), delivery.refused
    assert [table.path for table in delivery.tables] == ["prices.csv"]
    assert [document.path for document in delivery.documents] == ["report.md"]


def test_good_members_of_a_hostile_archive_are_read(deliver: Any) -> None:
    delivery = deliver({"data.zip": zipped(sub__prices_csv=GOOD.encode(), inner_zip=b"PK")})

    assert [(table.path, table.role) for table in delivery.tables] == [("data.zip#sub/prices.csv", "prices")]
    assert delivery.refused == ("data.zip#inner.zip: an archive inside an archive is not opened",)


def test_gzipped_and_concatenated_members_are_read(deliver: Any) -> None:
    head, rest = GOOD.encode()[:40], GOOD.encode()[40:]
    delivery = deliver({"prices.csv.gz": gzip.compress(head) + gzip.compress(rest)})

    assert len(delivery.of("prices")[0].frame) == 2


def test_sqlite_views_triggers_and_endless_queries_are_not_run(tmp_path: Path, deliver: Any) -> None:
    data = sqlite(
        "CREATE TABLE prices (date TEXT, symbol TEXT, open REAL, close REAL)",
        "INSERT INTO prices VALUES ('2020-01-02', 'NA', 1.0, 1.5)",
        "CREATE TABLE log (x)",
        "CREATE TRIGGER t AFTER INSERT ON prices BEGIN INSERT INTO log VALUES (1); END",
        "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
        "CREATE TABLE made (a INTEGER, b INTEGER GENERATED ALWAYS AS (a * 2) VIRTUAL)",
        tmp=tmp_path,
    )
    delivery = deliver({"run.db": data})
    (table,) = delivery.of("prices")

    assert table.path == "run.db#prices"
    assert table.frame["symbol"].tolist() == ["NA"]
    assert any("endless" in guess for guess in table.guesses)


def test_sqlite_that_takes_too_many_steps_is_refused(tmp_path: Path, monkeypatch: Any) -> None:
    rows = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT x, x FROM n"
    data = sqlite("CREATE TABLE t (a, b)", f"INSERT INTO t {rows}", tmp=tmp_path)
    monkeypatch.setattr("evaluator.package.formats.database.SQLITE_STEPS", 10)
    monkeypatch.setattr("evaluator.package.formats.database._EVERY", 100)

    with pytest.raises(Unreadable, match="SQLite"):
        read_tables(data, ".db")


def test_html_entities_and_outside_files_are_not_followed(deliver: Any, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret", encoding="utf-8")
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    page = (
        f'<!DOCTYPE x [<!ENTITY a0 "xxxxxxxxxx">{bomb}<!ENTITY s SYSTEM "file://{secret}">]><html><body>'
        "<h2>Metrics</h2><table><tr><th>Metric</th><th>Value</th></tr><tr><td>Sharpe</td><td>1.5</td></tr>"
        "<tr><td>Total return</td><td>12%</td></tr><tr><td>Note</td><td>&a11;&s;</td></tr></table></body></html>"
    )
    delivery = deliver({"report.html": page})
    (table,) = delivery.of("metrics")

    assert table.frame.set_index("name")["value"]["total_return"] == pytest.approx(0.12)
    assert not table.frame["text"].str.contains("a secret|xxxxxxxxxx").any()


def test_numbers_that_overflow_are_no_numbers(deliver: Any) -> None:
    text = (
        "date,symbol,side,quantity,price\n2020-01-02,A,BUY,1e999,5\n2020-01-03,A,BUY,1,nan\n2020-01-06,A,BUY,1,-inf\n"
    )
    delivery = deliver(
        {"trades.csv": text, "metrics.json": json.dumps({"sharpe": float("inf"), "total_return": 1e308})}
    )

    assert delivery.refused == ()
    assert len(delivery.of("trades")[0].frame) == 3


def test_archive_over_the_cap_stops_in_time(monkeypatch: Any) -> None:
    monkeypatch.setattr(archives, "MAX_UNPACKED", 1000)
    with pytest.raises(Unreadable, match="more than 1000 bytes"):
        archives.ungzipped(gzip.compress(np.random.default_rng(1).bytes(5000)))


def test_all_tables_together_are_bounded(deliver: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("evaluator.package.assembly.MAX_DELIVERY_CELLS", 10)
    delivery = deliver({"prices.csv": GOOD, "more_prices.csv": GOOD.replace("A", "B")})

    assert len(delivery.tables) == 1
    assert "cells in all" in delivery.refused[0]


PROBE = """
import sys
from pathlib import Path
from evaluator.package.attempt import read_file
from evaluator.package.files import Found
path = Path(sys.argv[1])
tables, _, refused = read_file(Found(path.name, path, 1, path.stat().st_size))
peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(int(peak.split()[1]) // 1024, len(tables), len(refused))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["zeros.csv.gz", "zeros.zip", "corner.xlsx", "long_text.parquet", "padded.xlsx", "deep.json"]
)
def test_bomb_is_refused_within_the_memory_of_the_container(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FILES[name]())
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(path)], capture_output=True, text=True, check=True, timeout=300
    )
    peak, tables, refused = (int(word) for word in done.stdout.split())

    assert (tables, refused) == (0, 1)
    assert peak < 1536


def test_caps_leave_room_in_the_container() -> None:
    assert constants.MAX_CELLS * 8 + archives.MAX_UNPACKED < 1024 * constants.MIB
