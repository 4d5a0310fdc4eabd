"""The ten rows of evaluator.md 1.3, typed in by hand."""

import pytest

from generator import generate, live_conditions, offline_conditions
from generator.freeze import frozen_table
from generator.wording import frozen_hashes
from records.errors import GeneratorError
from records.strategy import Strategy

TABLE = """
0|retail_investor|basket|10|7|3|sue|-|vix_gate|inverse_vol/none|position_stop|next_close|fixed_rate|sue,vix_gate,position_stop
1|retail_investor|sector|4|4|2|low_beta_252|-|always_invested|equal/none|none|next_close|fixed_rate|low_beta_252,equal
2|generalist_analyst|sector|17|10|5|gross_profitability+mom_6_1+sue|zscore_mean|breadth|risk_parity/ewma|position_stop|staged|none|gross_profitability,mom_6_1,sue,position_stop,risk_parity
3|biotech_specialist|sector|11|8|4|rev_21+small_cap|rank_mean|always_invested|rank_weighted/none|drawdown_stop|adv_cap|fixed_rate|rev_21,small_cap,rank_weighted,adv_cap
4|generalist_analyst|sector|15|8|5|rev_5+sue+book_to_price|zscore_mean|vix_gate|rank_weighted/none|vol_target|next_open|fixed_rate|rev_5,sue,book_to_price,vix_gate,zscore_mean
5|retail_investor|basket|14|9|4|low_max_21+rev_21|zscore_mean|vol_gate|mean_variance/ledoit_wolf|drawdown_stop|adv_cap|none|low_max_21,rev_21,adv_cap,vol_gate
6|generalist_analyst|basket|6|4|2|mom_12_1|-|always_invested|min_variance/sample|none|adv_cap|none|mom_12_1,min_variance
7|biotech_specialist|sector|8|4|2|gross_profitability+low_beta_252|zscore_mean|always_invested|cap_weighted/none|none|next_open|none|gross_profitability,low_beta_252
8|biotech_specialist|sector|12|9|4|rev_21+low_max_21|sequential_screen|spy_abs_mom|cap_weighted/none|position_stop|staged|fixed_rate|rev_21,low_max_21,spy_abs_mom,position_stop
9|retail_investor|market|6|4|2|high_52w|-|spy_sma|score_weighted/none|none|staged|none|high_52w,spy_sma
"""
ROWS = TABLE.split()


def _strategy_words(strategy: Strategy) -> list[str]:
    options = strategy.belief.options
    return [
        "+".join(options.factors),
        options.combination or "-",
        options.market_timing,
        f"{options.weighting}/{options.covariance}",
        options.risk_control,
        options.execution,
        options.transaction_cost,
        ",".join(item.split("/")[1] for item in strategy.opening_items),
    ]


@pytest.mark.parametrize("row", ROWS)
def test_frozen_seed_gives_its_published_row(row: str) -> None:
    seed, persona, scope, difficulty, n_items, n_opening, *words = row.split("|")

    task, strategy = generate(int(seed), conditions=offline_conditions())

    assert (persona, scope) == (task.persona, task.scope.kind)
    assert (int(difficulty), int(n_items)) == (strategy.difficulty, len(strategy.belief.items))
    assert int(n_opening) == len(strategy.opening_items)
    assert words == _strategy_words(strategy)


def test_ten_tasks_voice_6_7_items_and_open_with_3_3_on_average() -> None:
    strategies = [generate(seed, conditions=live_conditions())[1] for seed in range(10)]

    assert sum(len(s.belief.items) for s in strategies) / 10 == 6.7
    assert sum(len(s.opening_items) for s in strategies) / 10 == 3.3


def test_frozen_table_in_the_package_is_what_this_version_makes() -> None:
    assert frozen_hashes() == frozen_table()
    assert len({entry["id"] for entry in frozen_hashes().values()}) == 10


def test_changed_frozen_content_is_refused_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    changed = {seed: dict(entry) for seed, entry in frozen_hashes().items()}
    changed["3"]["sha256"] = "0" * 64
    monkeypatch.setattr("generator.frozen.frozen_hashes", lambda: changed)

    with pytest.raises(GeneratorError, match=r"frozen seed 3: expected task .* with content 0000"):
        generate(3, conditions=offline_conditions())
    generate(4, conditions=offline_conditions())
    generate(3, salt="private", conditions=offline_conditions())


def test_frozen_content_does_not_depend_on_the_conditions() -> None:
    """Both pass the check although dates and holdings limits differ."""
    for seed in range(10):
        offline, sealed = generate(seed, conditions=offline_conditions())
        live, again = generate(seed, conditions=live_conditions())

        assert sealed == again
        assert (offline.id, offline.scope.symbols) == (live.id, live.scope.symbols)
