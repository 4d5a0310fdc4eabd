"""3.6: what the rerun made against what was delivered, level by level."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from evaluator.measure.case import Case
from evaluator.measure.reproducibility import judge, rows_equal
from evaluator.package.attempt import load_delivery
from records.errors import GradingError
from records.grade import Judgement
from tests.evaluator.deliveries import clean
from tests.evaluator.reruns import write_rerun

Tables = dict[str, pd.DataFrame]
RESULTS = ("trades", "equity", "metrics")


def judged(root: Path, made: Callable[[Tables], Tables | None] = lambda tables: tables, **changes: Any) -> Judgement:
    """Deliver the clean tables, have the rerun make what `made` returns of a copy, and judge 3.6."""
    delivered = clean()
    public = delivered.write(root)
    copies = {name: delivered.tables[name].copy() for name in RESULTS}
    write_rerun(public, made(copies), **changes)
    return judge(Case(load_delivery(public)))


def test_trades_and_equity_come_out_again_then_4(tmp_path: Path) -> None:
    verdict = judged(tmp_path)

    assert (verdict.score, verdict.complete, verdict.source) == (4, True, "program")
    assert any("100.00% of" in line for line in verdict.evidence)


def test_other_layout_and_row_order_then_4(tmp_path: Path) -> None:
    def made(tables: Tables) -> Tables:
        trades = (
            tables["trades"].sample(frac=1, random_state=1).rename(columns={"fill_date": "date", "quantity": "qty"})
        )
        return {
            "out/trade_log": trades.drop(columns=["trigger"]),
            "out/nav": tables["equity"].rename(columns={"equity": "nav"}),
        }

    assert judged(tmp_path, made).score == 4


def test_printed_with_fewer_digits_then_4(tmp_path: Path) -> None:
    def made(tables: Tables) -> Tables:
        return {name: table.round({"price": 6, "fee": 6, "equity": 2}) for name, table in tables.items()}

    assert judged(tmp_path, made).score == 4


@pytest.mark.parametrize(("share", "score"), [(0.005, 4), (0.03, 3)])
def test_some_rows_differ_then_the_share_decides(tmp_path: Path, share: float, score: int) -> None:
    def made(tables: Tables) -> Tables:
        rows = tables["trades"]
        changed = rows.sample(n=max(int(len(rows) * share), 1), random_state=1).index
        rows["quantity"] = rows["quantity"].astype(float)
        rows.loc[changed, "quantity"] += 1
        return tables

    assert judged(tmp_path, made).score == score


@pytest.mark.parametrize(("factor", "score"), [(1.0005, 4), (1.002, 3)])
def test_equity_gap_decides_between_4_and_3(tmp_path: Path, factor: float, score: int) -> None:
    def made(tables: Tables) -> Tables:
        place = tables["equity"].index[100]
        tables["equity"].loc[place, "equity"] *= factor
        return tables

    assert judged(tmp_path, made).score == score


def test_only_metrics_come_out_then_3(tmp_path: Path) -> None:
    verdict = judged(tmp_path, lambda tables: {"metrics": tables["metrics"]})

    assert verdict.score == 3
    assert "trade log: none was made again" in verdict.evidence


def test_equity_without_metrics_and_trades_then_its_figures_are_held_against_the_report(tmp_path: Path) -> None:
    assert judged(tmp_path, lambda tables: {"equity": tables["equity"]}).score == 3


@pytest.mark.parametrize("kind", ["nothing", "other metrics", "no table"])
def test_outputs_missing_or_other_then_2(tmp_path: Path, kind: str) -> None:
    def made(tables: Tables) -> Tables | None:
        if kind == "nothing":
            return None
        if kind == "no table":
            return {"trades": pd.DataFrame({"note": ["no trades today"]})}
        metrics = tables["metrics"]
        metrics.loc[metrics["metric"] == "total_return", "value"] += 0.5
        return {"metrics": metrics}

    assert judged(tmp_path, made).score == 2


@pytest.mark.parametrize(
    ("changes", "score", "words"),
    [
        ({"exit_code": 1, "stderr": "Traceback\nKeyError: 'AAA'\n"}, 1, "exit code 1"),
        ({"end": "timed_out", "exit_code": None}, 1, "does not end"),
        ({"end": "box_ended", "exit_code": None}, 1, "takes its container down"),
        ({"end": "no_entry", "entry": "", "argv": (), "exit_code": None}, 1, "how the code is started"),
        ({"end": "no_entry", "entry": "", "exit_code": None, "not_parsed": {"a.py": "SyntaxError"}}, 0, "not parse"),
        ({"exit_code": 1, "not_parsed": {"backtest.py": "SyntaxError: line 1"}}, 0, "does not parse"),
        ({"end": "no_code", "entry": "", "exit_code": None, "why": "no code was delivered"}, 0, "no code"),
    ],
)
def test_code_that_does_not_run_then_0_or_1(tmp_path: Path, changes: dict[str, Any], score: int, words: str) -> None:
    verdict = judged(tmp_path, **changes)

    assert verdict.score == score
    assert words in verdict.reason


def test_another_file_that_does_not_parse_then_only_the_entry_counts(tmp_path: Path) -> None:
    assert judged(tmp_path, not_parsed={"old.py": "SyntaxError"}).score == 4


def test_never_run_again_then_not_run_and_incomplete(tmp_path: Path) -> None:
    verdict = judge(Case(load_delivery(clean().write(tmp_path))))

    assert (verdict.status, verdict.score, verdict.complete) == ("not_run", None, False)


def test_delivered_results_never_stand_in_for_regenerated_ones(tmp_path: Path) -> None:
    verdict = judged(tmp_path, lambda tables: None)

    assert {"trade log: none was made again", "equity: none was made again"} <= set(verdict.evidence)


def test_hostile_files_of_a_rerun_then_refused_and_scored(tmp_path: Path) -> None:
    public = clean().write(tmp_path)
    write_rerun(public)
    (public / "rerun" / "deliver").mkdir(parents=True)
    (public / "rerun" / "deliver" / "trades.csv").write_bytes(b"\xff\xfe\x00garbage\x00")
    (public / "rerun" / "deliver" / "equity.json").write_bytes(b"[" * 50_000)
    (public / "rerun" / "deliver" / "link.csv").symlink_to("/etc/passwd")

    verdict = judge(Case(load_delivery(public)))

    assert verdict.score == 2
    assert any("link.csv" in line for line in verdict.evidence)


def test_damaged_record_of_ours_then_a_grading_error(tmp_path: Path) -> None:
    public = clean().write(tmp_path)
    (public / "rerun.json").write_text("{}", encoding="utf-8")

    with pytest.raises(GradingError, match=r"rerun\.json"):
        load_delivery(public)


def test_share_of_equal_rows_counts_the_longer_log_and_pairs_split_fills() -> None:
    day = pd.Timestamp("2015-01-02")
    log = pd.DataFrame({"date": day, "symbol": ["A", "A", "B"], "side": 1, "quantity": [1.0, 2.0, 3.0], "price": 5.0})

    assert rows_equal(log, log.iloc[::-1]) == 1.0
    assert rows_equal(log, log.iloc[:2]) == pytest.approx(2 / 3)
    assert rows_equal(log, log.assign(price=[5.0, 5.0, np.nan])) == pytest.approx(2 / 3)
    assert rows_equal(log, log.assign(side=-1)) == 0.0
    assert rows_equal(log.iloc[:0], log.iloc[:0]) == 0.0
