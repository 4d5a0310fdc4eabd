"""Settings in delivered code count as configuration where there is no specification table."""

import pandas as pd
import pytest

from evaluator.compare.claims import find_claim
from evaluator.compare.code_values import code_rows, with_code
from evaluator.measure.specification import delivered_spec, spec_rows
from evaluator.package.delivery import Delivery, Document, Table
from generator import offline_conditions
from records.strategy import Item

EQUAL = Item(id="portfolio_construction/equal", component="portfolio_construction", option="equal", text="equal")
RATE = Item(
    id="transaction_cost/fixed_rate/rate_bps",
    component="transaction_cost",
    option="fixed_rate",
    param="rate_bps",
    text="cost",
    value=10.0,
    unit="bps",
)
CODE = 'WEIGHTING = "equal"\nCOST_BPS = 10\n'
NESTED = 'CONFIG = {"portfolio": {"weighting": "equal"}, "cost": {"rate_bps": 10}}\n'


def delivery(code: str, *rows: tuple[str, str, str]) -> Delivery:
    tables = (Table("spec.csv", "spec", pd.DataFrame(rows, columns=["component", "key", "value"]), 1),) if rows else ()
    return Delivery(offline_conditions(), (), tables, (Document("backtest.py", "code", code, 1),))


def claim(item: Item, given: Delivery) -> str:
    spec, rows = with_code(delivered_spec(given), spec_rows(given), given)
    found = find_claim(item, spec, rows, [])
    assert found.quotes or found.claim != "present"
    return found.claim


@pytest.mark.parametrize("code", [CODE, NESTED])
def test_settings_of_a_program_are_claims(code: str) -> None:
    assert claim(EQUAL, delivery(code)) == claim(RATE, delivery(code)) == "present"


def test_other_settings_contradict() -> None:
    code = 'WEIGHTING = "risk_parity"\nCOST_BPS = 25\n'

    assert claim(EQUAL, delivery(code)) == claim(RATE, delivery(code)) == "contradicted"


def test_specification_table_comes_before_the_code() -> None:
    rows = (("portfolio_construction", "weighting", "rank_weighted"),)

    assert claim(EQUAL, delivery(CODE, *rows)) == "contradicted"
    assert claim(RATE, delivery(CODE, *rows)) == "present"


def test_defaults_of_functions_and_classes_are_no_settings() -> None:
    code = 'class Spec:\n    weighting: str = "equal"\n\ndef run(weighting="equal", rate_bps=10):\n    cost_bps = 10\n'

    assert list(code_rows(delivery(code))) == []


@pytest.mark.parametrize("code", ["def broken(:", "\x00", "x = " + "[" * 500, "A = {}\nB = {1: 2, **C}\n"])
def test_code_that_cannot_be_read_states_nothing(code: str) -> None:
    assert list(code_rows(delivery(code))) == []
