"""The item matcher as the user runs it: lexicon first, a topic model for free wording second."""

from functools import cache

from simulator.reading import MessageReader


@cache
def default_reader() -> MessageReader:
    """Return the shipped reader."""
    return MessageReader()
