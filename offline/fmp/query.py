"""Reading query parameters the way FMP does: text in, FMP's own refusal when one is missing or unreadable."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

from offline.data.standins import FROZEN_TODAY
from offline.fmp.replies import missing_parameter

Row = dict[str, Any]
TODAY = date.fromisoformat(FROZEN_TODAY)
WINDOW_DAYS = 90


class Query(dict[str, str]):
    """The query parameters of one request, the key already taken out."""

    def text(self, name: str) -> str:
        """Return a needed parameter. Raises ApiError 400 when it is absent."""
        value = self.get(name, "").strip()
        if not value:
            raise missing_parameter(name)
        return value

    def symbol(self) -> str:
        """Return the needed `symbol`, in capitals."""
        return self.text("symbol").upper()

    def whole(self, name: str, default: int) -> int:
        """Return an optional non-negative whole number."""
        value = self.get(name, "").strip()
        if not value:
            return default
        if not value.isascii() or not value.isdigit():
            raise missing_parameter(name)
        return int(value)

    def number(self, name: str) -> float | None:
        """Return an optional number."""
        value = self.get(name, "").strip()
        if not value:
            return None
        try:
            return float(value)
        except ValueError:
            raise missing_parameter(name) from None

    def day(self, name: str) -> date | None:
        """Return an optional date YYYY-MM-DD."""
        value = self.get(name, "").strip()
        if not value:
            return None
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise missing_parameter(name) from None

    def span(self) -> tuple[str, str]:
        """Return `from` and `to` as ISO text, open ends as the widest dates."""
        first, last = self.day("from"), self.day("to")
        return (first.isoformat() if first else "0001-01-01", last.isoformat() if last else "9999-12-31")

    def window(self) -> tuple[str, str]:
        """Return `from` and `to` of an endpoint that answers at most 90 days, counted back from `to`."""
        last = self.day("to") or TODAY
        first = max(self.day("from") or last - timedelta(days=WINDOW_DAYS), last - timedelta(days=WINDOW_DAYS))
        return first.isoformat(), last.isoformat()


def within(rows: Sequence[Row], span: tuple[str, str]) -> list[Row]:
    """Return the rows whose `date` lies in the span, both ends included, order kept."""
    first, last = span
    return [row for row in rows if first <= row["date"] <= last]


def page(rows: Sequence[Row], query: Query, size: int) -> list[Row]:
    """Return one page; `limit` may make it smaller, never larger than `size`."""
    length = min(query.whole("limit", size), size)
    start = query.whole("page", 0) * length
    return list(rows[start : start + length])


def marked(row: Row, *, modelled: bool) -> Row:
    """Return the row, with `"modelled": true` at its end when any value in it is modelled."""
    if modelled:
        row["modelled"] = True
    return row
