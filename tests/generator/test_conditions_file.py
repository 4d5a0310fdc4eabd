from datetime import date
from pathlib import Path

import pytest

from generator import load_conditions
from records.errors import UsageError

GOOD = """
t_cut: 2020-06-30
start_hint: 2014-01-02
channels: [fmp-mcp, web]
max_turns: 4
turn_limit_s: 120
"""


def _write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "conditions.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_file_with_exactly_the_keys_is_read(tmp_path: Path) -> None:
    conditions = load_conditions(_write(tmp_path, GOOD))

    assert conditions.t_cut == date(2020, 6, 30)
    assert conditions.channels == ("fmp-mcp", "web")
    assert (conditions.max_turns, conditions.turn_limit_s) == (4, 120)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (GOOD + "t_end: 2020-01-01\n", "unknown key t_end"),
        (GOOD.replace("max_turns: 4\n", ""), "missing key max_turns"),
        (GOOD.replace("2020-06-30", "2013-06-30"), "t_cut 2013-06-30 lies before start_hint 2014-01-02"),
        (GOOD.replace("max_turns: 4", "max_turns: 0"), "max_turns = 0 does not fit"),
        (GOOD.replace("2020-06-30", "soon"), "t_cut = 'soon' does not fit"),
        (GOOD.replace("2020-06-30", "2020-13-45"), "is not YAML"),
        ("- a\n- b\n", "expected a mapping"),
        ("", "found nothing"),
        ("a: [1\nb: 2\n", "is not YAML (line"),
        ("3: 4\n", "unknown key 3"),
    ],
)
def test_wrong_file_is_one_sentence_with_the_place(tmp_path: Path, text: str, sentence: str) -> None:
    path = _write(tmp_path, text)

    with pytest.raises(UsageError) as caught:
        load_conditions(path)

    assert sentence in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


def test_unreadable_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_conditions(tmp_path / "none.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(UsageError, match="cannot be read"):
        load_conditions(binary)
    with pytest.raises(UsageError, match="cannot be read"):
        load_conditions(tmp_path)
