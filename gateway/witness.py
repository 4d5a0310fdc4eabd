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
    is_confirmed: bool = False
    """A request of the gateway's own failed as well."""

    @property
    def is_suspect(self) -> bool:
        """Whether the row is long enough to ask the upstream ourselves; an agent that hammers it can make one too."""
        refused = self.failing_in_a_row > 0 and self.last_failure == KEY_REFUSED
        return refused or self.failing_in_a_row >= self.lasting_calls

    def probed(self, answer: Answer) -> None:
        """Take the answer to a request of the gateway's own, made because of the suspicion."""
        self.is_confirmed = bool(answer.failure)

    def saw(self, answer: Answer, *, started_at: datetime) -> None:
        """Count one call, after its last try."""
        self.calls += 1
        if not answer.failure:
            self.failing_in_a_row, self.failing_since, self.is_confirmed = 0, None, False
            return
        self.failed_calls += 1
        self.failing_in_a_row += 1
        self.failing_since = self.failing_since or started_at
        self.last_failure = answer.failure

    def report(self) -> Witness:
        """Return the count as a record."""
        return Witness(
            session=self.session,
            calls=self.calls,
            failed_calls=self.failed_calls,
            failing_in_a_row=self.failing_in_a_row,
            failing_since=self.failing_since,
            last_failure=self.last_failure,
            is_lasting=self.is_suspect and self.is_confirmed,
        )
