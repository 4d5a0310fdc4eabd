from typing import Any

import pandas as pd
import pytest

from evaluator.package.dates import looks_like_dates, parse_dates
from evaluator.package.numbers import parse_number, parse_numbers


def dates(*cells: Any, **extra: Any) -> Any:
    return parse_dates(pd.Series(list(cells), dtype=object), **extra)


def days(*cells: Any, **extra: Any) -> Any:
    return [None if pd.isna(day) else day.strftime("%Y-%m-%d") for day in dates(*cells, **extra).days]


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("2024-01-02", "2024-01-02"),
        ("2024-01-02 16:00:00", "2024-01-02"),
        ("2024-01-02T00:00:00+00:00", "2024-01-02"),
        ("2024-01-02T00:00:00Z", "2024-01-02"),
        ("2024-01-03T02:30:00Z", "2024-01-02"),
        ("2024-01-02 00:00:00-05:00", "2024-01-02"),
        ("2024-07-02 00:00:00-04:00", "2024-07-02"),
        ("20240102", "2024-01-02"),
        (20240102, "2024-01-02"),
        (20240102.0, "2024-01-02"),
        (45293, "2024-01-02"),
        (1704207600, "2024-01-02"),
        (1704207600000, "2024-01-02"),
        ("2024/01/02", "2024-01-02"),
        ("2024.01.02 10:15:00", "2024-01-02"),
        ("02-Jan-2024", "2024-01-02"),
        ("Jan 2, 2024", "2024-01-02"),
        ("13/01/2024", "2024-01-13"),
        ("01/13/2024", "2024-01-13"),
        ("2024-02-30", None),
        ("20241399", None),
        ("total", None),
        ("", None),
        ("17", None),
        (None, None),
    ],
)
def test_cell_becomes_its_new_york_date(cell: Any, day: Any) -> None:
    assert days(cell) == [day]


def test_one_part_over_twelve_decides_the_whole_column() -> None:
    assert days("03/04/2024", "13/04/2024") == ["2024-04-03", "2024-04-13"]
    assert days("03/04/2024", "04/13/2024") == ["2024-03-04", "2024-04-13"]


def test_more_sessions_decide_when_no_part_is_over_twelve() -> None:
    # 5 and 6 October 2024 are a weekend; 10 May and 10 June are sessions.
    parsed = dates("05/10/2024", "06/10/2024")

    assert [d.month for d in parsed.days] == [5, 6]
    assert "month first" in parsed.guesses[0]
    assert not parsed.ambiguous


def test_tie_is_ambiguous() -> None:
    assert dates("03/05/2024").ambiguous == (days("03/05/2024") == days("03/05/2024"))
    assert dates("04/03/2024", "03/04/2024").ambiguous


def test_offsets_that_change_over_summer_time_parse() -> None:
    assert days("2024-01-02 00:00:00-05:00", "2024-07-02 00:00:00-04:00") == ["2024-01-02", "2024-07-02"]


def test_acceptance_after_the_close_counts_for_the_next_session() -> None:
    assert days("2024-01-05 16:30:12", "2024-01-05 15:59:00", "2024-01-05", after_close=True) == [
        "2024-01-08",
        "2024-01-05",
        "2024-01-05",
    ]


def test_typed_stamps_follow_the_same_rules() -> None:
    zoned = pd.Series(pd.to_datetime(["2024-01-02T00:00:00Z", "2024-01-03T02:30:00Z"]))
    plain = pd.Series(pd.to_datetime(["2024-01-02 16:00"]))

    assert [str(d.date()) for d in parse_dates(zoned).days] == ["2024-01-02", "2024-01-02"]
    assert [str(d.date()) for d in parse_dates(plain).days] == ["2024-01-02"]
    assert parse_dates(zoned).days.dt.tz is None


def test_small_numbers_and_words_are_no_dates() -> None:
    assert not looks_like_dates(pd.Series([0, 1, 2, 3]))
    assert not looks_like_dates(pd.Series(["total", "mean"]))
    assert not looks_like_dates(pd.Series([], dtype=object))
    assert looks_like_dates(pd.Series(["2024-01-02", None]))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12.5%", 0.125),
        ("(5.2%)", -0.052),
        ("\u22125.2", -5.2),
        ("$1,234.50", 1234.5),
        ("USD 10", 10.0),
        ("1.2e5", 1.2e5),
        ("15 bps", 0.0015),
        ("1 600", 1600.0),
        (3, 3.0),
    ],
)
def test_number_as_agents_write_it(cell: Any, value: Any) -> None:
    assert parse_number(cell) == pytest.approx(value)


def test_decimal_commas_with_an_exponent_then_small_weights_stay_small() -> None:
    cells = pd.Series(["0,24634146341463414", "8,3e-05", "9,614E-05", "1,0"])

    assert parse_numbers(cells).tolist() == [0.24634146341463414, 8.3e-05, 9.614e-05, 1.0]
    assert parse_numbers(pd.Series(["1,234", "5.1e-05"])).tolist() == [1234.0, 5.1e-05]


def test_decimal_commas_only_where_the_file_uses_them() -> None:
    assert parse_number("1.185,60", european=True) == 1185.6
    assert parse_number("1,185") == 1185
    assert parse_numbers(pd.Series(["5,5", "—", "n/a"]), european=True).tolist()[0] == 5.5


def test_formula_and_words_are_no_numbers() -> None:
    assert parse_numbers(pd.Series(['=HYPERLINK("x")', "abc", ""])).isna().all()
