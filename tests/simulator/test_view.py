"""What the user sees of a delivery: capped, newest first, safe against whatever lies there."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from records.capture import FileEntry
from records.limits import DEFAULT_LIMITS
from records.session import AgentEvent, UserEvent
from simulator import build_view

from .conftest import AT, Talk


def _total(texts: list[str | None]) -> int:
    return sum(len(text or "") for text in texts)


def test_caps_hold_for_files_characters_and_each_file(talk: Callable[[int], Talk]) -> None:
    files = {f"data/part{number}.csv": "date,close\n" + "2020-01-02,1.0\n" * 2_000 for number in range(40)}

    view = talk(1).hear("Files.", {"report.md": "# Summary\n" + "word " * 5_000, **files})

    assert len(view.files) == DEFAULT_LIMITS.view_files == 20
    assert _total([file.text for file in view.files]) <= DEFAULT_LIMITS.view_total_chars == 12_000
    assert max(len(file.text or "") for file in view.files) <= DEFAULT_LIMITS.view_file_chars == 8_000
    assert [file.id for file in view.files] == [f"f{number}" for number in range(1, 21)]


def test_every_file_gets_a_first_look_and_a_long_report_shows_its_end(talk: Callable[[int], Talk]) -> None:
    report = "# Summary\n" + "word " * 5_000 + "\n## Limitations\nOne path.\n"
    tables = {f"table{number}.csv": "date,symbol,close\n" + "2020-01-02,KO,1.0\n" * 900 for number in range(19)}

    view = talk(1).hear("Files.", {"report.md": report, **tables})

    by_path = {file.path: file for file in view.files}
    assert (by_path["report.md"].text or "").endswith("## Limitations\nOne path.\n")
    assert by_path["report.md"].truncated
    assert all((by_path[path].text or "").startswith("date,symbol,close\n2020-01-02,KO") for path in tables)


def test_files_of_the_newest_turn_come_first_and_keep_the_turn_of_their_content(talk: Callable[[int], Talk]) -> None:
    session = talk(1)
    session.say("First.", {"report.md": "# Summary\n", "trades.csv": "date,price\n2020-01-02,1\n"})
    session.say("Second.", {"notes.md": "# Notes\n"})
    view = session.hear("Third.", {"trades.csv": "date,price\n2020-01-02,2\n"})

    assert [(file.path, file.turn) for file in view.files] == [("trades.csv", 3), ("notes.md", 2), ("report.md", 1)]
    agent = [message for message in view.messages if message.role == "agent"]
    assert [message.changed_files for message in agent] == [
        ("report.md", "trades.csv"),
        ("notes.md",),
        ("trades.csv",),
    ]


def test_file_taken_away_is_gone_from_the_view(talk: Callable[[int], Talk]) -> None:
    session = talk(1)
    session.say("First.", {"report.md": "# Summary\n", "old.csv": "a\n"})
    del session.files["old.csv"]

    assert [file.path for file in session.hear("Second.").files] == ["report.md"]


def test_messages_are_numbered_from_the_opening(talk: Callable[[int], Talk]) -> None:
    session = talk(1)
    session.say("Hello.")
    view = session.hear("Hello.")

    assert [(m.id, m.role, m.turn) for m in view.messages] == [
        ("m1", "user", 0),
        ("m2", "agent", 1),
        ("m3", "user", 1),
        ("m4", "agent", 2),
    ]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("trades.parquet", b"PAR1\x00\x01"),
        ("report.pdf", b"%PDF-1.7"),
        ("data.csv", b"\x00\x01\x02" * 50),
        ("data.json", b"\xff\xfe\xfd" * 200),
        ("noext", b"text"),
        ("model.pkl", b"cos\nsystem\n(S'touch /tmp/never'\ntR."),
    ],
)
def test_what_is_no_text_is_present_but_unread(path: str, body: bytes, talk: Callable[[int], Talk]) -> None:
    (file,) = talk(1).hear("Files.", {path: body}).files

    assert (file.path, file.text) == (path, None)


def _event(paths: list[str]) -> list[UserEvent | AgentEvent]:
    entries = tuple(FileEntry(path=path, size=1, sha256="0" * 64) for path in paths)
    return [
        UserEvent(turn=0, at=AT, text="Hi."),
        AgentEvent(turn=1, started_at=AT, ended_at=AT, text="Done.", files=entries),
    ]


def test_links_devices_and_paths_out_of_the_folder_are_not_opened(tmp_path: Path) -> None:
    secret = tmp_path / "sealed.csv"
    secret.write_text("secret,1\n", encoding="utf-8")
    deliver = tmp_path / "deliver"
    deliver.mkdir()
    (deliver / "link.csv").symlink_to(secret)
    (deliver / "folder").symlink_to(tmp_path)
    os.mkfifo(deliver / "pipe.csv")
    paths = ["link.csv", "folder/sealed.csv", "pipe.csv", "../sealed.csv", str(secret), "gone.csv", "bad\0.csv", ""]

    view = build_view(_event(paths), deliver=lambda turn: deliver)

    assert len(view.files) == len(paths)
    assert [file.text for file in view.files] == [None] * len(paths)


def test_undecodable_name_is_shown_escaped_and_the_view_is_json(tmp_path: Path) -> None:
    view = build_view(_event(["caf\udce9.csv"]), deliver=lambda turn: tmp_path)

    assert view.files[0].path == "caf\\udce9.csv"
    assert "caf" in view.to_json()


def test_huge_file_is_read_at_its_ends_only(tmp_path: Path) -> None:
    """A sparse file of 3 GiB: reading it whole would not end."""
    path = tmp_path / "huge.csv"
    with path.open("wb") as handle:
        handle.write(b"date,close\n" * 4_000)
        handle.truncate(3 * 1024**3)
        handle.seek(0, os.SEEK_END)
        handle.write(b"2020-01-02,1\n" * 1_000)

    (file,) = build_view(_event(["huge.csv"]), deliver=lambda turn: tmp_path).files

    assert file.truncated
    assert file.text is not None
    assert len(file.text) <= DEFAULT_LIMITS.view_file_chars


HOSTILE = {
    "deep.json": "[" * 100_000,
    "trades.json": '{"trades": ' * 3_000,
    "trades.csv": '"' + "x" * 200_000,
    "prices.csv": "\n".join(["," * 5_000] * 10),
    "specification.csv": "component,parameter,value\n" + "risk_control,threshold,1e999\n" * 5 + "cost,rate,-\n",
    "config.yaml": "weights: &a [*a, *a]\n" * 20,
    "metrics.json": '{"sharpe": NaN, "return": Infinity}',
    "report.md": "#" * 9_000 + "\n" + "**" * 4_000 + "\n| a | b |\n" * 50,
    "report.html": "<h1>" * 3_000,
}


@pytest.mark.parametrize("path", HOSTILE)
def test_hostile_content_is_read_without_harm(path: str, talk: Callable[[int], Talk]) -> None:
    session = talk(3)
    session.say("At what drawdown do you go to cash, and what cost do you charge?")

    record = session.say("Done.", {path: HOSTILE[path]})

    assert record.decision.action in ("follow_up", "challenge")


@pytest.mark.parametrize(
    "text", ["?" * 20_000, "a" * 100_000, "| x " * 5_000, "```\n" * 3_000, "- " * 9_000, "\x00\x07\u202e\ud83d\ude00"]
)
def test_hostile_message_is_read_without_harm(text: str, talk: Callable[[int], Talk]) -> None:
    text = text.encode("utf-16", "surrogatepass").decode("utf-16")

    assert talk(3).say(text).decision.message


def test_report_longer_than_its_cap_keeps_the_headings_of_what_is_left_out(talk: Callable[[int], Talk]) -> None:
    filler = "A sentence about the backtest that says little. " * 150
    report = f"# Report\n\n## Summary\n\n{filler}\n\n## Results\n\n{filler}\n\n## Limitations\n\n{filler}\n"

    text = talk(1).hear("Files.", {"report.md": report}).files[0].text or ""

    assert len(text) <= DEFAULT_LIMITS.view_file_chars
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == ["# Report", "## Summary", "## Results", "## Limitations"]
