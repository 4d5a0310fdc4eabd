"""^VIX: real closes from 2014-01-03 to 2019-01-03, elsewhere modelled from the index's realised volatility.

The model is a least-squares fit of log VIX on the real window (1,259 closes) to log volatilities at half-lives of 5, 21 and 126
sessions, the day's return (at most 4 % either way) and the five-day return (8 %) of ^GSPC; its residual is AR(1) with rho 0.82 and standard deviation 0.103.
The real closes stay untouched; modelled ones are capped at 85 (the highest real close ever is 82.69, March 2020).
"""

import numpy as np
import pandas as pd

from offline.data import bars
from offline.data.facts import autoregressive, generator
from offline.data.prices import VIX, frame

FIT = {"constant": 1.19425, 5: 0.29957, 21: 0.14821, 126: 0.16531, "return": -2.38026, "five_day": -4.41559}
LARGEST_DAY, LARGEST_WEEK = 0.04, 0.08
RESIDUAL_RHO, RESIDUAL_SD = 0.82, 0.103
HIGHEST, LOWEST = 85.0, 9.0


def modelled_closes(index_close: pd.Series) -> pd.Series:
    """Return a modelled VIX close for each session of the index, in index points with two decimals."""
    returns = np.log(index_close).diff().fillna(0.0)
    day = returns.clip(-LARGEST_DAY, LARGEST_DAY)
    week = returns.rolling(5, min_periods=1).sum().clip(-LARGEST_WEEK, LARGEST_WEEK)
    log_vix = FIT["constant"] + FIT["return"] * day + FIT["five_day"] * week
    for halflife in (5, 21, 126):
        volatility = np.sqrt((returns**2).ewm(halflife=halflife).mean() * 252) * 100
        log_vix = log_vix + FIT[halflife] * np.log(volatility.clip(lower=4.0))
    log_vix = log_vix + autoregressive(generator(VIX, "close"), len(returns), rho=RESIDUAL_RHO, sd=RESIDUAL_SD)
    modelled: pd.Series = np.exp(log_vix).clip(LOWEST, HIGHEST).round(2)
    return modelled


def volatility_index_rows(index_close: pd.Series, real: pd.Series) -> pd.DataFrame:
    """Return bars of ^VIX on the index's sessions; `real` holds closes by date."""
    close = modelled_closes(index_close)
    is_real = close.index.isin(real.index)
    close[is_real] = real.reindex(close.index[is_real])
    values = close.to_numpy(dtype=float)
    opening, high, low = bars.model_prices(VIX, values)
    columns = {"open": opening, "high": high, "low": low, "close": values, "adj_close": values}
    columns |= {"volume": np.zeros(len(values), dtype=np.int64)}
    columns |= {"modelled": np.ones(len(values), dtype=bool), "modelled_light": ~is_real}
    return frame(VIX, pd.DatetimeIndex(close.index), columns)
