"""Delimiters around text that an agent wrote: a tag that the text cannot hold and nobody could know beforehand."""

import hashlib
from itertools import count

TAG_DIGITS = 16


def tag_for(text: str, *, number: int = 0) -> str:
    """Return a tag that does not occur in `text`, whatever the case of its letters.

    It is a hash of the text, so that the same delivery gives the same prompt and the text cannot be written to contain
    it. Args: number: which question it is for; another number is another tag.
    """
    folded = text.casefold()
    for attempt in count():
        digest = hashlib.sha256(f"{number}\0{attempt}\0{text}".encode(errors="backslashreplace")).hexdigest()
        tag = f"data-{digest[:TAG_DIGITS]}"
        if tag not in folded:
            return tag
    raise AssertionError


def fenced(text: str, tag: str) -> str:
    """Return the text between an opening and a closing line of its tag."""
    return f"<{tag}>\n{text}\n</{tag}>"


def plain_id(path: str) -> str:
    """Return a delivered path as one printable line of at most 200 characters, the id under which it is quoted."""
    shown = "".join(character if character.isprintable() and character not in '"<>' else " " for character in path)
    return " ".join(shown.split())[:200]
