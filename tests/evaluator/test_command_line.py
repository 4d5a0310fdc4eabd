import json
import sys
from pathlib import Path

import pytest

from evaluator.__main__ import main
from evaluator.version import evaluator_version
from tests.evaluator.deliveries import MESSAGES, clean, strategy, write_session

pytestmark = pytest.mark.thorough


def run(public: Path, out: Path) -> tuple[int, int]:
    sealed = out / "sealed"
    sealed.mkdir(parents=True)
    (sealed / "strategy.json").write_text(strategy().to_json(), encoding="utf-8")
    first = main(["measure", "--capture", str(public), "--out", str(out)])
    arguments = ["--measured", str(out), "--strategy", str(sealed / "strategy.json"), "--out", str(out)]
    return first, main(["compare", "--capture", str(public), *arguments, "--sealed-out", str(sealed)])


def scores(out: Path) -> dict[str, int | None]:
    found = {}
    for name in ("measured.json", "compared.json"):
        for judgement in json.loads((out / name).read_text(encoding="utf-8"))["judgements"]:
            found[judgement["dimension"]] = judgement["score"]
    return found


def test_empty_delivery_scores_zero_everywhere_that_ran(tmp_path: Path) -> None:
    public = write_session(tmp_path / "public", [(MESSAGES[0][0], "Hello.")])

    assert run(public, tmp_path / "out") == (0, 0)
    ran = {dimension: score for dimension, score in scores(tmp_path / "out").items() if score is not None}
    assert ran.pop("5.6") == 4  # a bare greeting leaks nothing
    assert set(ran.values()) == {0}
    assert {"1.1", "3.1", "3.2", "3.7", "3.8", "2.1", "2.3", "2.6"} <= set(ran)


def test_same_capture_gives_the_same_bytes(tmp_path: Path) -> None:
    public = clean().write(tmp_path)
    assert run(public, tmp_path / "a") == (0, 0)
    assert run(public, tmp_path / "b") == (0, 0)
    for name in ("spec.json", "judgements.json", "measured.json", "compared.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for name in ("compare-judgements.json", "compare-evidence.json"):
        assert (tmp_path / "a" / "sealed" / name).read_bytes() == (tmp_path / "b" / "sealed" / name).read_bytes()


@pytest.mark.parametrize(
    "files",
    [
        {"trades.csv": b"\xff\xfe\x00garbage\x00\x01\x02"},
        {"trades.csv": b"date,symbol,side,quantity,price\n,,,,\nx,y,z,q,p\n"},
        {"prices.csv": b"date,symbol,close\n2015-01-02,AAA,inf\n2015-01-05,AAA,-1\n9999-99-99,BBB,nan\n"},
        {
            "trades.csv": b"date,symbol,side,quantity,price\n2015-01-05,AAA,buy,1e308,1e308\n",
            "prices.csv": b"date,symbol,close\n2015-01-05,AAA,1\n2015-01-06,AAA,2\n",
        },
        {
            "equity.csv": b"date,equity\n2015-01-05,0\n2015-01-06,0\n",
            "metrics.csv": b"metric,value\nsharpe,nan\ntotal_return,inf\n",
        },
        {
            "specification.csv": b"component,parameter,value\nstock_selection,factors,+++\nportfolio_construction,n_holdings,1e99\n"
        },
        {"report.md": b"## Results\n" + b"(" * 5_000 + b" 12.5% return"},
        {"data.json": b"[" * 50_000},
    ],
)
def test_hostile_files_never_stop_the_evaluator(tmp_path: Path, files: dict[str, bytes]) -> None:
    public = write_session(tmp_path / "public", [(MESSAGES[0][0], "Done.")])
    deliver = public / "turns" / "1" / "deliver"
    deliver.mkdir(parents=True)
    for name, content in files.items():
        (deliver / name).write_bytes(content)

    assert run(public, tmp_path / "out") == (0, 0)
    assert scores(tmp_path / "out")["3.7"] != 4


def test_missing_specification_is_one_sentence_and_exit_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    public = write_session(tmp_path / "public", [(MESSAGES[0][0], "Hello.")])
    (tmp_path / "strategy.json").write_text(strategy().to_json(), encoding="utf-8")
    arguments = ["--measured", str(tmp_path), "--strategy", str(tmp_path / "strategy.json"), "--out", str(tmp_path)]
    code = main(["compare", "--capture", str(public), *arguments, "--sealed-out", str(tmp_path)])

    assert code == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_evaluator_version_is_sixteen_hexadecimal_digits_and_stable() -> None:
    assert evaluator_version() == evaluator_version()
    assert len(evaluator_version()) == 16
    assert int(evaluator_version(), 16) >= 0


def test_measure_never_loads_the_strategy_record(tmp_path: Path) -> None:
    import subprocess  # noqa: PLC0415

    public = write_session(tmp_path / "public", [(MESSAGES[0][0], "Hello.")])
    script = (
        "import sys; from evaluator.__main__ import main; "
        f"code = main(['measure', '--capture', {str(public)!r}, '--out', {str(tmp_path)!r}]); "
        "sys.exit(code or int('records.strategy' in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
