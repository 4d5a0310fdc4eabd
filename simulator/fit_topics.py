"""Fit the second stage to the paraphrase bank and write data/topic_head.json: `python -m simulator.fit_topics`.

Run it after every change of data/bank; a test fails when the two no longer belong together. Prints precision and recall
of each label on lines left out one by one.
"""

import sys
from hashlib import sha256
from pathlib import Path

import numpy as np
import numpy.typing as npt

from simulator.encoder import PACKAGE, VERSION, default_encoder
from simulator.topic_model import LABELS, STEP, BankLine, Head, kernel, logistic, read_bank, write_head
from simulator.wording import BUCKETS, hashed, rarity

RIDGE = 0.2
WORDING = 0.5
"""Weight of the likeness in wording beside the likeness in meaning; both chosen with whole writers of the bank left out."""
NEWTON_STEPS = 50

Array = npt.NDArray[np.float64]


def fit(bank: list[BankLine]) -> Head:
    """Return the ridge regression of every label on the summed kernels; one solution, found in closed form."""
    return _fitted(bank)[0]


def _fitted(bank: list[BankLine]) -> tuple[Head, Array]:
    """Return the head and the probabilities (lines, labels) of each line by the fit without it."""
    texts = [line.read for line in bank]
    vectors = np.round(default_encoder().encode(texts).astype(np.float64) / STEP) * STEP
    rarities = rarity(texts)
    letters = np.zeros((len(bank), BUCKETS))
    for row, text in enumerate(texts):
        places, values = hashed(text, rarities)
        letters[row, places] = values
    targets = wanted(bank).astype(np.float64)
    base = targets.mean(axis=0)
    gram = kernel(vectors, vectors) + WORDING * letters @ letters.T + RIDGE * np.eye(len(bank))
    inverse = np.linalg.inv(gram)
    shares = inverse @ (targets - base)
    left_out = targets - shares / np.diag(inverse)[:, None]
    scales = [_scaling(left_out[:, column], targets[:, column]) for column in range(len(LABELS))]
    slope, offset = np.array(scales).T
    head = Head(
        vectors=vectors,
        shares=shares,
        rarities=rarities,
        wording=WORDING * letters.T @ shares,
        base=base,
        slope=slope,
        offset=offset,
        bank_sha256=bank_sha256(bank),
        weights_of=f"{PACKAGE}=={VERSION}",
    )
    return head, logistic(slope * left_out + offset)


def wanted(bank: list[BankLine]) -> npt.NDArray[np.bool_]:
    """Return whether each line (row) carries each label (column)."""
    return np.array([[label in line.codes for label in LABELS] for line in bank])


def bank_sha256(bank: list[BankLine]) -> str:
    """Return the hash of what was fitted."""
    return sha256("\n".join(f"{line.codes}|{line.text}" for line in bank).encode()).hexdigest()


def _scaling(sums: Array, targets: Array) -> tuple[float, float]:
    """Return slope and offset of the logistic regression of the targets on the sums (Platt), by Newton's method."""
    design = np.stack([sums, np.ones_like(sums)], axis=1)
    solution = np.array([4.0, -2.0])
    for _ in range(NEWTON_STEPS):
        shares = logistic(design @ solution)
        curvature = design.T @ (design * (shares * (1.0 - shares))[:, None]) + 1e-6 * np.eye(2)
        solution += np.linalg.solve(curvature, design.T @ (targets - shares))
    return float(solution[0]), float(solution[1])


def main() -> None:
    """Fit, write, and print how well left-out lines are read."""
    bank = read_bank()
    head, left_out = _fitted(bank)
    write_head(head, Path(__file__).parent / "data" / "topic_head.json")
    truth, found = wanted(bank), left_out >= 0.5
    for column, label in enumerate(LABELS):
        hits = (truth[:, column] & found[:, column]).sum()
        precision, recall = hits / found[:, column].sum(), hits / truth[:, column].sum()
        sys.stdout.write(f"{label}: precision {precision:.3f} recall {recall:.3f}\n")


if __name__ == "__main__":
    main()
