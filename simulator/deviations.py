"""Pieces of a delivery that visibly differ from what the user already stated (evaluator.md 6.3, step 4).

Only what was stated counts, and only what a specification table or a report says outright: a wrong alarm would keep a
right delivery from being accepted, a missed one is what the grade is for.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from records.decision import View, ViewFile
from simulator import delivery
from simulator.belief import Convictions
from simulator.lexicon import TOPICS, Lexicon, Topic
from simulator.text import normalise

ROW_TOPIC: tuple[tuple[Topic, re.Pattern[str]], ...] = (
    ("covariance", re.compile(r"covarian")),
    ("combination", re.compile(r"combin|blend|composite|aggregat")),
    ("market_timing", re.compile(r"timing|regime|market_?filter|gate")),
    ("weighting", re.compile(r"weight|sizing|allocation")),
    ("transaction_cost", re.compile(r"cost|fee|commission|slippage|bps")),
    ("execution", re.compile(r"execution|fill")),
    ("risk_control", re.compile(r"risk|stop|drawdown|vol_?target")),
    ("selection", re.compile(r"factor|selection|signal|ranking")),
)
VALUE_KEYS: dict[Topic, re.Pattern[str]] = {
    "risk_control": re.compile(r"threshold|target\b|level|limit"),
    "transaction_cost": re.compile(r"rate|bps|cost|fee|commission"),
}
REPORT_TOPICS: tuple[Topic, ...] = ("combination", "market_timing", "weighting", "covariance")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
PROPOSAL_ROW = re.compile(
    r"own choice|my choice|assum|default|propos|placeholder|provisional|to (?:be )?confirm|tbd|not (?:specified|stated|given)|guess"
)


@dataclass(frozen=True)
class Deviation:
    """A piece that is off and the file that shows it."""

    topic: Topic
    is_level: bool
    file_id: str

    @property
    def piece(self) -> str:
        """Key of the piece's name."""
        return "risk_control/value" if self.is_level and self.topic == "risk_control" else self.topic


@dataclass(frozen=True)
class _Row:
    topic: Topic
    key: str
    text: str


def deviations(convictions: Convictions, stated: Collection[str], view: View, lexicon: Lexicon) -> list[Deviation]:
    """Return what deviates from the stated items in the current delivery, one entry per piece, in component order."""
    found: dict[tuple[Topic, bool], Deviation] = {}
    for file in view.files:
        if not file.text:
            continue
        for topic, is_level in _off(convictions, stated, file, lexicon):
            found.setdefault((topic, is_level), Deviation(topic, is_level, file.id))
    return sorted(found.values(), key=lambda deviation: (TOPICS.index(deviation.topic), deviation.is_level))


def is_spec(file: ViewFile) -> bool:
    """Return whether the file is a table of what was implemented or is planned."""
    name = delivery.base_name(file)
    return delivery.SPEC_NAME.search(name) is not None and not name.endswith((".py", ".sh", ".sql", ".r"))


def proposal_lines(file: ViewFile) -> list[str]:
    """Return the rows of a specification that are marked as the agent's own proposal, as 'key: value' text."""
    if not file.text or not is_spec(file):
        return []
    return [f"{row.key}: {row.text}" for row in _rows(file) if PROPOSAL_ROW.search(row.text)]


def _off(
    convictions: Convictions, stated: Collection[str], file: ViewFile, lexicon: Lexicon
) -> Iterator[tuple[Topic, bool]]:
    if is_spec(file):
        rows = _rows(file)
        for topic in TOPICS:
            mine = [row for row in rows if row.topic == topic]
            if _options_differ(convictions, stated, topic, [f"{row.key} {row.text}" for row in mine], lexicon):
                yield topic, False
            if _level_differs(convictions, stated, topic, mine):
                yield topic, True
    elif delivery.is_report(file):
        text = normalise(file.text or "")
        for topic in REPORT_TOPICS:
            if _options_differ(convictions, stated, topic, [text], lexicon):
                yield topic, False


def _options_differ(
    convictions: Convictions, stated: Collection[str], topic: Topic, texts: list[str], lexicon: Lexicon
) -> bool:
    """Return whether options of the topic are named and a stated one is not among them."""
    believed = [item.option for item in convictions.of_topic(topic) if item.id in stated]
    named = {option for text in texts for option in _named(text, topic, lexicon)}
    return bool(named) and any(option not in named for option in believed)


def _named(text: str, topic: Topic, lexicon: Lexicon) -> set[str]:
    by_alias = {found.option for found in lexicon.options(text) if found.topic == topic}
    by_id = {option for option in lexicon.option_ids(topic) if re.search(rf"(?<![a-z0-9]){option}(?![a-z0-9])", text)}
    return (by_alias | by_id) - {"none"}


def _level_differs(convictions: Convictions, stated: Collection[str], topic: Topic, rows: list[_Row]) -> bool:
    item = convictions.value_of(topic)
    keys = VALUE_KEYS.get(topic)
    if item is None or item.value is None or item.id not in stated or keys is None:
        return False
    numbers = [
        abs(float(number))
        for row in rows
        if keys.search(row.key)
        for number in NUMBER.findall(row.text.split(",", maxsplit=1)[0])
    ]
    scale = 10_000.0 if item.unit == "bps" else 100.0
    matches = [
        number for number in numbers if abs(number - item.value) < 1e-9 or abs(number * scale - item.value) < 1e-6
    ]
    return bool(numbers) and not matches


def _rows(file: ViewFile) -> list[_Row]:
    rows = []
    for key, text in _pairs(file):
        topic = next((topic for topic, pattern in ROW_TOPIC if pattern.search(key)), None)
        if topic is not None:
            rows.append(_Row(topic, key, text))
    return rows


def _pairs(file: ViewFile) -> list[tuple[str, str]]:
    """Return key and value text of every row, lower case: a table's first two columns are the key when it has four."""
    table = delivery.table_of(file)
    if table is not None and len(table.columns) >= 2 and not (len(table.rows) == 1 and file.path.endswith("json")):
        width = 2 if len(table.columns) >= 3 and table.columns[1].startswith(("param", "key", "name", "setting")) else 1
        return [
            (normalise(" ".join(row[:width])).replace(" ", "_"), normalise(",".join(row[width:]))) for row in table.rows
        ]
    pairs = []
    for line in normalise(file.text or "").splitlines():
        if line.count("|") >= 2:
            cells = [cell.strip(" *`") for cell in line.strip().strip("|").split("|")]
            pairs.append(("_".join(cells[0].split()), ",".join(cells[1:])))
            continue
        key, mark, value = re.sub(r"[\"'|*`]", " ", line).strip(" -,").partition(":" if ":" in line else "=")
        if mark and len(key) <= 60:
            pairs.append(("_".join(key.split()), value.strip()))
    return pairs
