"""The three covariance estimators, daily, over a window of returns."""

import numpy as np

from evaluator.quant.arrays import FloatArray

ESTIMATORS = ("sample", "ewma", "ledoit_wolf")
EWMA_WINDOW = 252


def covariance(window: FloatArray, estimator: str, *, halflife: float = 63) -> FloatArray:
    """Return names x names; `window` is sessions x names, oldest first, without missing values.

    Raises ValueError for an estimator outside the grammar: callers check `ESTIMATORS` first.
    """
    if estimator == "sample":
        return np.atleast_2d(np.cov(window, rowvar=False, ddof=1))
    if estimator == "ewma":
        age = np.arange(len(window) - 1, -1, -1)
        weights = 0.5 ** (age / halflife)
        weights /= weights.sum()
        centred = window - weights @ window
        return np.asarray((centred * weights[:, None]).T @ centred)
    if estimator == "ledoit_wolf":
        from sklearn.covariance import LedoitWolf  # noqa: PLC0415 -- 2.6 s to import, needed for this option only

        return np.asarray(LedoitWolf().fit(window).covariance_)
    raise ValueError(f"covariance estimator {estimator!r} is not one of {', '.join(ESTIMATORS)}")
