"""The rebuild of 3.2 against empyrical-reloaded: returns, Sharpe, drawdown and CAGR, the first day's loss included."""

from typing import Any

import empyrical
import numpy as np
import pytest

from evaluator.quant.accounting import rebuild
from evaluator.quant.metrics import Conventions, performance, returns_of
from evaluator.quant.panel import price_panel
from tests.evaluator.worlds import CAPITAL, backtest, canonical_trades, market


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_rebuild_agrees_with_empyrical(seed: int) -> None:
    prices = market(end="2020-06-30", seed=seed)
    book: Any = rebuild(canonical_trades(backtest(prices)), price_panel(prices), capital=CAPITAL)
    daily = returns_of(book.equity, CAPITAL)
    own = performance(book.equity, capital=CAPITAL, conventions=Conventions(cagr="periods"))

    np.testing.assert_allclose((1 + daily).cumprod() * CAPITAL, book.equity.reindex(daily.index), rtol=1e-9)
    assert own["total_return"] == pytest.approx(empyrical.cum_returns_final(daily), abs=1e-9)
    assert own["sharpe"] == pytest.approx(empyrical.sharpe_ratio(daily), abs=1e-9)
    assert own["max_drawdown"] == pytest.approx(empyrical.max_drawdown(daily), abs=1e-9)
    assert own["cagr"] == pytest.approx(empyrical.cagr(daily), abs=1e-9)
