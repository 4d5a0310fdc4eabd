"""Whether a quote stands in a text: how both are compared, the same for every judge."""

import unicodedata

LEAST_CHARS = 8
"""A shorter quote stands in almost any text and shows nothing, unless it is the whole text."""


def flat(text: str) -> str:
    """Return the text as quotes are compared: NFKC, lower case, runs of white space collapsed (evaluator.md 2.9)."""
    return " ".join(unicodedata.normalize("NFKC", text).lower().split())


def stands_in_flat(quote: str, document: str) -> bool:
    """Whether a quote is found in a document that is `flat` already."""
    wanted = flat(quote)
    return bool(wanted) and len(wanted) >= min(LEAST_CHARS, len(document)) and wanted in document
