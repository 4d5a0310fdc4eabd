"""Dimension 1.4: missing values, gaps, duplicates, stale prices, outliers and impossible bars of the delivered data."""

from evaluator.measure.case import Case
from evaluator.measure.verdict import scored
from evaluator.quant.absent import Absent
from evaluator.quant.quality import Quality, fundamental_quality, price_quality, weighted
from records.grade import Judgement

_LIMITS = ((4, 0.005), (3, 0.02), (2, 0.05), (1, 0.15))
"""Share of impossible fundamentals rows a level bears, as for missing prices."""


def judge(case: Case) -> Judgement:
    """Return the verdict of 1.4: the worst measure over all price rows decides, faulty fundamentals lower it."""
    evidence: list[str] = []
    measured: list[Quality] = []
    for table in case.delivery.of("prices"):
        quality = price_quality(table.frame)
        if isinstance(quality, Absent):
            evidence.append(f"{table.path}: {quality.reason}")
            continue
        measured.append(quality)
        shown = ", ".join(f"{name} {value:.4%}" for name, value in quality.measures.items())
        evidence.append(f"{table.path}: {quality.rows} rows, {shown}")
        evidence += [f"{name}: {', '.join(rows)}" for name, rows in sorted(quality.examples.items())]
    whole = weighted(measured)
    if isinstance(whole, Absent):
        return scored("1.4", 0, "no usable price table was delivered", evidence)
    scores = [whole.score]
    for table in case.delivery.of("fundamentals"):
        counts = fundamental_quality(table.frame)
        faulty = sum(count for name, count in counts.items() if name != "rows") / max(len(table.frame), 1)
        scores.append(next((level for level, limit in _LIMITS if faulty <= limit), 0))
        evidence.append(f"{table.path}: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
    return scored(
        "1.4", min(scores), "the worst measure decides, several price tables weighted by their rows", evidence
    )
