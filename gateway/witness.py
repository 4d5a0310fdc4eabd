"""Remembers, per session, whether the FMP upstream failed and for how long."""

from dataclasses import dataclass
from datetime import datetime

from gateway.settings import Witness
from gateway.upstream import KEY_REFUSED, Answer


@dataclass
class UpstreamWitness:
    """The running count of one session."""

    session: str
    lasting_calls: int
    calls: int = 0
    failed_calls: int = 0
    failing_in_a_row: int = 0
    failing_since: datetime | None = None
    last_failure: str = ""

    def saw(self, answer: Answer, *, started_at: datetime) -> None:
        """Count one call, after its last try."""
        self.calls += 1
        if not answer.failure:
            self.failing_in_a_row, self.failing_since = 0, None
            return
        self.failed_calls += 1
        self.failing_in_a_row += 1
        self.failing_since = self.failing_since or started_at
        self.last_failure = answer.failure

    def report(self) -> Witness:
        """Return the count as a record."""
        in_a_row = self.failing_in_a_row
        refused = in_a_row > 0 and self.last_failure == KEY_REFUSED
        return Witness(
            session=self.session,
            calls=self.calls,
            failed_calls=self.failed_calls,
            failing_in_a_row=in_a_row,
            failing_since=self.failing_since,
            last_failure=self.last_failure,
            is_lasting=refused or in_a_row >= self.lasting_calls,
        )
