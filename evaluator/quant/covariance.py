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
        return _ledoit_wolf(window)
    raise ValueError(f"covariance estimator {estimator!r} is not one of {', '.join(ESTIMATORS)}")


def _ledoit_wolf(window: FloatArray) -> FloatArray:
    """Shrink the ddof-0 covariance S towards mu I, mu = trace(S) / p (Ledoit and Wolf, J. Multivariate Anal. 88, 2004).

    The share b / d is estimated from d = |S - mu I|^2 / p and b = min(d, sum_t |x_t x_t' - S|^2 / (n^2 p)). Equals
    scikit-learn's LedoitWolf, which takes seconds to import.
    """
    sessions, names = window.shape
    centred = window - window.mean(axis=0)
    sample = centred.T @ centred / sessions
    if names == 1:
        return np.asarray(sample)
    mean = float(np.trace(sample)) / names
    squared = float((sample**2).sum())
    spread = squared / names - mean**2
    squares = centred**2
    noise = (float((squares.T @ squares).sum()) / sessions - squared) / (names * sessions)
    share = min(noise, spread) / spread if noise > 0 and spread > 0 else 0.0
    shrunk = (1 - share) * sample
    shrunk[np.diag_indices(names)] += share * mean
    return np.asarray(shrunk)
