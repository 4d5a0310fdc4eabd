"""Where delivered code is started: README, run.sh, Makefile, script, notebook, in this order."""

import pytest

from runner.entrypoint import Entry, entry_point, is_code
from runner.makefile import recipe, targets
from runner.withheld import is_result

MAIN = "def main(): ...\n\nif __name__ == '__main__':\n    main()\n"


def found(**texts: str) -> Entry:
    """Names are written with __ for a dot and ___ for a slash."""
    entry = entry_point({name.replace("___", "/").replace("__", "."): text for name, text in texts.items()})
    assert entry is not None
    return entry


@pytest.mark.parametrize(
    ("readme", "argv", "cwd"),
    [
        ("```bash\npip install -r requirements.txt\npython backtest.py --fast\n```", ("backtest.py", "--fast"), "."),
        ("Run `python3 backtest.py` again.", ("backtest.py",), "."),
        ("$ python helper.py\n$ python backtest.py", ("backtest.py",), "."),
        ("SEED=1 python ./backtest.py", ("./backtest.py",), "."),
        ("python deliver/backtest.py", ("deliver/backtest.py",), ".."),
        ("python /workspace/deliver/backtest.py", ("/workspace/deliver/backtest.py",), "."),
        ("pip install pandas && python -m backtest", ("backtest.py",), "."),
        ("python helper.py", ("helper.py",), "."),
    ],
)
def test_readme_command_that_names_a_delivered_program(readme: str, argv: tuple[str, ...], cwd: str) -> None:
    entry = found(README__md=readme, backtest__py="", helper__py=MAIN, run__sh="")

    assert (entry.kind, entry.argv, entry.cwd) == ("readme", ("python3", *argv), cwd)


@pytest.mark.parametrize(
    "readme", ["python missing.py", "python backtest.py | tee log", "see backtest.py", "python", "'unclosed python x"]
)
def test_readme_without_a_usable_command_then_the_next_in_order(readme: str) -> None:
    assert found(README__md=readme, backtest__py=MAIN, run__sh="").kind == "shell"


def test_readme_in_a_folder_then_its_commands_start_there() -> None:
    entry = found(code___README__md="python bt.py", code___bt__py="")

    assert (entry.file, entry.argv, entry.cwd) == ("code/bt.py", ("python3", "bt.py"), "code")


def test_readme_that_says_make_then_that_target() -> None:
    entry = found(README__md="make numbers", Makefile="all:\n\ttrue\nnumbers:\n\tpython bt.py\n", bt__py="")

    assert (entry.kind, entry.argv) == ("makefile", ("make", "-f", "Makefile", "numbers"))


def test_run_sh_before_makefile_before_script_before_notebook() -> None:
    texts = {"run__sh": "", "Makefile": "run:\n\tpython bt.py\n", "bt__py": MAIN, "a__ipynb": ""}
    kinds = []
    while texts:
        kinds.append(found(**texts).kind)
        del texts[next(iter(texts))]

    assert kinds == ["shell", "makefile", "script", "notebook"]


def test_several_guarded_scripts_then_the_one_whose_name_says_backtest() -> None:
    entry = found(a__py=MAIN, backtest_momentum__py=MAIN, test_backtest__py=MAIN)

    assert entry.file == "backtest_momentum.py"
    assert "likeliest of 2" in entry.why


def test_no_main_part_then_the_one_script_that_no_other_imports() -> None:
    assert (
        found(main_code__py="import helpers\nfrom data import x\n", helpers__py="", data__py="").file == "main_code.py"
    )
    assert entry_point({"a.py": "", "b.py": ""}) is None


def test_no_code_then_no_entry() -> None:
    assert entry_point({"trades.csv": "", "report.md": ""}) is None
    assert [is_code(name) for name in ("a.py", "x/Makefile", "a.sh", "a.ipynb", "a.csv")] == [True] * 4 + [False]


def test_recipe_with_variables_and_prerequisites_in_order() -> None:
    text = "PY ?= python3\n.PHONY: all\nall: data run\ndata:\n\t@echo $(HOME_DIR)data $$HOME\nrun: data\n\t-$(PY) bt.py \\\n\t  --x\n"

    assert targets(text) == ("all", "data", "run")
    assert recipe(text, "all") == "echo data $HOME\npython3 bt.py --x"
    assert recipe(text, "nothing") == ""


def test_recipe_that_needs_itself_then_it_ends() -> None:
    assert recipe("a: b\n\techo a\nb: a\n\techo b\n", "a") == "echo b\necho a"


@pytest.mark.parametrize("text", ["\n" * 250_000, " " * 250_000, "a " * 100_000, "`" * 250_000, "if __name__" * 20_000])
def test_hostile_text_then_nothing_to_start(text: str) -> None:
    assert entry_point({"README.md": text, "Makefile": text, "a.py": text, "b.py": text}) is None


@pytest.mark.parametrize(
    ("name", "result"),
    [
        ("trades.csv", True), ("trade_log.csv", True), ("TradeLog.parquet", True), ("out/equity_curve.json", True),
        ("metrics.json", True), ("performance-summary.xlsx", True), ("nav.csv", True), ("stress/fills.csv", True),
        ("prices.csv", False), ("market.csv", False), ("transaction_costs.csv", False), ("navigator.csv", False),
        ("specification.csv", False), ("trades.py", False), ("results.md", False), ("fundamentals.csv", False),
        ("value.csv", True), ("account_value.csv", True), ("book_value.csv", False), ("market_values.csv", False),
    ],
)  # fmt: skip
def test_results_are_known_by_their_names(name: str, result: bool) -> None:
    assert is_result(name) is result
