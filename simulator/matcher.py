"""The item matcher as the user runs it: lexicon first, sentence topics for free wording second."""

from functools import cache

from simulator.reading import MessageReader
from simulator.topic_model import default_topics

THRESHOLD = 0.5
"""From here a topic of the second stage counts; fixed on sets a-d and f (docs/adr/0007-item-matcher.md)."""


@cache
def default_reader() -> MessageReader:
    """Return the shipped reader, loaded once per process.

    Raises: PrerequisiteError: the package with the weights is not installed.
    """
    return MessageReader(model=default_topics(), threshold=THRESHOLD)
