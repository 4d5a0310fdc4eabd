"""Opens, highs, lows and volumes around closes that are given: what a daily bar needs and no package has.

The close-to-close return r is split into an overnight and a session part as two independent normal moves would split it given
their sum, 35 % of the variance overnight (large US stocks lie between a quarter and a half). High and low are drawn from the
exact law of the extremes of a Brownian bridge from open to close.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from offline.data.facts import autoregressive, generator

OVERNIGHT_SHARE = 0.35
VOLATILITY_HALFLIFE = 21
MIN_DAILY_VOLATILITY = 0.003


@dataclass(frozen=True)
class Bars:
    """Arrays of shape (n,); prices in the unit of the close, volume in whole shares."""

    open: np.ndarray
    high: np.ndarray
    low: np.ndarray
    volume: np.ndarray


def daily_volatility(close: np.ndarray) -> np.ndarray:
    """Return the exponentially weighted daily volatility, shape (n,), known at each close."""
    returns = np.diff(np.log(close), prepend=np.log(close[0]))
    clipped = pd.Series(np.clip(returns, -0.25, 0.25) ** 2)
    smooth = np.sqrt(clipped.ewm(halflife=VOLATILITY_HALFLIFE, min_periods=1).mean().to_numpy())
    return np.asarray(np.maximum(smooth, MIN_DAILY_VOLATILITY))


def model_prices(symbol: str, close: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return open, high and low with low <= open, close <= high."""
    random = generator(symbol, "bars")
    sigma = daily_volatility(close)
    previous = np.concatenate([close[:1], close[:-1]])
    returns = np.log(close / previous)
    spread = np.sqrt(OVERNIGHT_SHARE * (1 - OVERNIGHT_SHARE)) * sigma
    opening = previous * np.exp(OVERNIGHT_SHARE * returns + spread * random.standard_normal(len(close)))
    move = np.log(close / opening)
    scale = 2 * (1 - OVERNIGHT_SHARE) * sigma**2

    def reach(uniform: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(move**2 - scale * np.log(uniform)))

    above = (move + reach(random.uniform(1e-9, 1, len(close)))) / 2
    below = (move - reach(random.uniform(1e-9, 1, len(close)))) / 2
    high = np.maximum(opening * np.exp(above), np.maximum(opening, close))
    low = np.minimum(opening * np.exp(below), np.minimum(opening, close))
    return opening, high, low


def model_volume(symbol: str, close: np.ndarray, level: float | np.ndarray) -> np.ndarray:
    """Return daily volume in whole shares around `level`: persistent, heavier on large moves."""
    random = generator(symbol, "volume")
    sigma = daily_volatility(close)
    returns = np.abs(np.diff(np.log(close), prepend=np.log(close[0])))
    surprise = np.clip(returns / sigma, 0, 4)
    log_level = autoregressive(random, len(close), rho=0.97, sd=0.3) + 0.22 * random.standard_normal(len(close))
    volume = level * np.exp(log_level - 0.07 + 0.28 * (surprise - 0.75))
    return np.asarray(np.maximum(np.rint(volume), 1000), dtype=np.int64)


def model(symbol: str, close: np.ndarray, *, level: float | np.ndarray) -> Bars:
    """Return whole modelled bars around `close`, shape (n,)."""
    opening, high, low = model_prices(symbol, close)
    return Bars(open=opening, high=high, low=low, volume=model_volume(symbol, close, level))
