"""Numbers with their units as prose writes them."""

import re
from dataclasses import dataclass

_NUMBER = re.compile(
    r"(?P<cur>[$€£]\s?)?(?P<sign>(?<![\w.])[-+\u2212\u2013])?(?P<body>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?P<unit>\s?%|\s?(?:bps?|basis points?|percent(?:age points?)?|per cent|pp)\b|\s?(?:k|m|bn|million|billion|thousand)\b|x\b)?",
    re.IGNORECASE,
)
_MASKED = re.compile(
    r"\d{4}-\d{2}(?:-\d{2})?|\b(?:19|20)\d{2}\b|\b\d{1,2}/\d{1,2}/\d{2,4}\b|https?://\S{1,300}|\b[A-Za-z_]{1,60}\d\w{0,60}"
)
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_WORDS |= {"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "eighteen": 18}
_WORDS |= {"twenty": 20, "twenty-five": 25, "thirty": 30, "forty": 40, "fifty": 50}
WORD_NUMBER = "|".join(_WORDS)
DAY = re.compile(
    r"\b(?:19|20)\d{2}-\d{2}-\d{2}\b|\b\d{1,2}/\d{1,2}/(?:19|20)\d{2}\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (?:\d{1,2},? )?(?:19|20)\d{2}\b|\b(?:19|20)\d{2}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Figure:
    """A number in a sentence; percent and basis points as fractions."""

    value: float
    step: float
    """Half a unit of the last printed digit, in the value's own unit."""
    unit: str
    """'%', 'bps', 'x', 'money' or ''."""
    signed: bool
    start: int
    end: int


def figures(text: str) -> list[Figure]:
    """Return the numbers of a sentence; dates, years, links and names with digits are none."""
    plain = _MASKED.sub(lambda hit: " " * len(hit.group()), text)
    return [_figure(hit) for hit in _NUMBER.finditer(plain)]


def _figure(hit: re.Match[str]) -> Figure:
    body = hit["body"].replace(",", "")
    value = float(body[:30])
    step = 0.5 * 10.0 ** -len(body[:30].partition(".")[2])
    raw = (hit["unit"] or "").strip().lower()
    scale, unit = 1.0, ""
    if raw in ("%", "percent", "per cent", "pp") or raw.startswith("percentage"):
        scale, unit = 0.01, "%"
    elif raw.startswith(("bp", "basis")):
        scale, unit = 0.0001, "bps"
    elif raw == "x":
        unit = "x"
    elif raw:
        scale = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6}.get(raw, 1e9)
        unit = "money"
    if hit["cur"]:
        unit = "money"
    sign = -1.0 if hit["sign"] in ("-", "\u2212", "\u2013") else 1.0
    return Figure(sign * value * scale, step * scale, unit, bool(hit["sign"]), hit.start(), hit.end())


def number_word(text: str) -> float | None:
    """Return a written or spelt whole number; None when it is none."""
    low = text.strip().lower().replace(",", "")
    if low in _WORDS:
        return float(_WORDS[low])
    try:
        return float(low)
    except ValueError:
        return None
