"""Numbers with their unit as an investor writes them: 15%, fifteen percent, 10 bps, ten basis points."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

RELATIVE_TOLERANCE = 0.005
"""Values agree within 0.5 % (evaluator.md 2.9)."""

_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "twenty": 20, "twenty five": 25, "twenty-five": 25, "thirty": 30, "forty": 40, "fifty": 50,
}  # fmt: skip
_WORD = "|".join(sorted(_WORDS, key=lambda word: -len(word)))
_NUMBER = re.compile(
    rf"(?<![\w.])(?P<number>\d+(?:\.\d+)?|\.\d+|{_WORD})[\s-]*"
    r"(?P<unit>%|per ?cent\b|pct\b|percent\b|bps?\b|bips?\b|basis[\s-]points?\b)?"
)
_PARTS = {"half": 50.0, "quarter": 25.0, "fifth": 20.0, "eighth": 12.5, "tenth": 10.0}
_FRACTION = re.compile(
    rf"(?<!every )(?<!once )(?<!per )\b(?:an?|one)[\s-](?P<part>{'|'.join(_PARTS)})\b"
    r"(?P<unit>\s+of\s+(?:a|one)\s+per ?cent\b)?(?P<use>\s+(?:of|off|from|below|under|down|drop|loss|lower)\b|\s*[,.;!]|\s*$|(?=\s+(?:and|then)\b))?"
)


@dataclass(frozen=True)
class Number:
    """A number in a text; unit is 'percent', 'bps' or None."""

    value: float
    unit: str | None
    start: int
    end: int

    def equals(self, value: float, unit: str) -> bool:
        """Whether this is `value` in `unit` ('percent' or 'bps'); a bare number never is."""
        if self.unit is None:
            return False
        own = self.value
        if self.unit == "percent" and unit == "bps":
            own *= 100
        elif self.unit == "bps" and unit == "percent":
            own /= 100
        return same(own, value)


def same(left: float, right: float) -> bool:
    """Whether two values agree within the tolerance of item values."""
    return abs(left - right) <= RELATIVE_TOLERANCE * max(abs(right), 1e-12)


def numbers(text: str) -> list[Number]:
    """Return the numbers of a normalised text in order; a fraction ("a fifth off the peak") is a number of percent."""
    found = list(_fractions(text))
    taken = [(number.start, number.end) for number in found]
    for hit in _NUMBER.finditer(text):
        if any(start < hit.end() and hit.start() < end for start, end in taken):
            continue
        word = hit["number"]
        value = float(_WORDS[word]) if word in _WORDS else float(word)
        unit = hit["unit"]
        kind = None if unit is None else ("bps" if unit.startswith(("bp", "bip", "basis")) else "percent")
        found.append(Number(value, kind, hit.start(), hit.end()))
    return sorted(found, key=lambda number: number.start)


def _fractions(text: str) -> Iterator[Number]:
    for hit in _FRACTION.finditer(text):
        if hit["unit"]:
            yield Number(_PARTS[hit["part"]] / 100, "percent", hit.start(), hit.end("unit"))
        elif hit["use"] is not None:
            yield Number(_PARTS[hit["part"]], "percent", hit.start(), hit.end("part"))
