"""Task ids and canaries: keyed hashes of salt and seed, so that neither can be read off a task.

The released task set's key lies in the package: a run repeats byte for byte anywhere. A private task set is private by
its salt, which goes into both hashes and is never published.
"""

import hmac
from hashlib import sha256

from generator.wording import task_set_key, words

ID_WORDS = 4


def task_id(*, salt: str, seed: int) -> str:
    """Return four words joined by hyphens; the same for the same salt and seed."""
    digest = _digest("id", salt, seed)
    vocabulary = words()
    picks = (int.from_bytes(digest[2 * i : 2 * i + 2], "big") % len(vocabulary) for i in range(ID_WORDS))
    return "-".join(vocabulary[pick] for pick in picks)


def nonce(*, salt: str, seed: int) -> str:
    """Return the canary of a strategy: 32 hexadecimal digits that occur nowhere else."""
    return _digest("nonce", salt, seed)[:16].hex()


def _digest(purpose: str, salt: str, seed: int) -> bytes:
    return hmac.new(task_set_key(), f"{purpose}\0{salt}\0{seed}".encode(), sha256).digest()
