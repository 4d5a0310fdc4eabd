"""What the risk checks take from the grammar."""

from evaluator.compare.risk_checks import _targets
from records.grammar import load_grammar


def test_volatility_targets_are_those_a_belief_can_have() -> None:
    (target,) = (p for p in load_grammar().option("risk_control", "vol_target").params if p.name == "target")
    assert _targets() == [float(choice) for choice in target.choices]
    assert len(_targets()) > 1
