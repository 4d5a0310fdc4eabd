"""Fit the second stage to the paraphrase bank and write data/topic_head.json: `python -m simulator.fit_topics`.

Run it after every change of data/bank.txt; a test fails when the two no longer belong together.
"""

import json
from hashlib import sha256
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from simulator.encoder import PACKAGE, VERSION, default_encoder
from simulator.text import normalise
from simulator.topic_model import LABELS, BankLine, Head, read_bank

REGULARISATION = 100.0
"""Inverse strength; chosen on the labelled sets (docs/adr/0007-item-matcher.md)."""


def fit(bank: list[BankLine]) -> Head:
    """Return one logistic regression per label; the rare label weighs as much as the rest."""
    vectors = default_encoder().encode([normalise(line.text) for line in bank])
    weights, offsets = [], []
    for label in LABELS:
        wanted = [label in line.codes for line in bank]
        model = LogisticRegression(C=REGULARISATION, class_weight="balanced", max_iter=2000)
        model.fit(vectors.astype(np.float64), wanted)
        weights.append(model.coef_[0])
        offsets.append(float(model.intercept_[0]))
    return Head(np.array(weights), np.array(offsets))


def bank_sha256(bank: list[BankLine]) -> str:
    """Return the hash of what was fitted."""
    return sha256("\n".join(f"{line.codes}|{line.text}" for line in bank).encode()).hexdigest()


def main() -> None:
    """Fit and write."""
    bank = read_bank()
    head = fit(bank)
    labels = {
        label: {"offset": round(float(offset), 4), "weights": [round(float(weight), 4) for weight in row]}
        for label, row, offset in zip(LABELS, head.weights, head.offsets, strict=True)
    }
    document = {"bank_sha256": bank_sha256(bank), "weights_of": f"{PACKAGE}=={VERSION}", "labels": labels}
    path = Path(__file__).parent / "data" / "topic_head.json"
    path.write_text(json.dumps(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
