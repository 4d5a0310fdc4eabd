import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from records.limits import DEFAULT_LIMITS
from records.session import EndReason
from runner import preflight, wiring
from runner.cli import program
from runner.versions import product_version
from tests.reports.records import grade, run_record, write_attempt, write_grade, write_run
from tests.runner.fakes import ScriptedSandbox, ScriptedUser, attempt, decision, result

Run = Callable[..., Result]
COMMANDS = (
    "", "launch", "status", "show", "grade", "feedback", "report", "replay", "tasks", "tasks list", "tasks show", "tasks sample", "tasks count",
    "agents", "agents list", "images", "images build", "doctor", "clean",
)  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the program in an empty folder, without a key and with no engine in reach."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/no.sock")
    monkeypatch.delenv("FMP_API_KEY", raising=False)

    def invoke(line: str, *more: str) -> Result:
        return CliRunner().invoke(program, [*line.split(), *more], prog_name="runner")

    return invoke


def refused(done: Result, tmp_path: Path) -> str:
    """Check that a foreseen fault is one sentence, exit code 2 and nothing left behind; return the sentence."""
    assert done.exit_code == 2, done.output
    assert "Traceback" not in done.output
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    return done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    done = run(command, "--help")

    assert done.exit_code == 0
    assert done.stdout.startswith(f"Usage: runner{' ' + command if command else ''} ")


def test_every_command_of_the_documentation_exists_and_none_is_left_out() -> None:
    text = (Path(__file__).parents[2] / "docs" / "running.md").read_text(encoding="utf-8")

    for name in program.commands:
        assert f"`runner {name}" in text


def test_unknown_agent_is_refused(run: Run, tmp_path: Path) -> None:
    assert "there is no agent 'gpt'" in refused(run("launch --agents gpt --seeds 6 --offline"), tmp_path)


def test_all_agents_are_refused_while_there_are_none(run: Run, tmp_path: Path) -> None:
    sentence = refused(run("launch --agents all --seeds 6 --offline"), tmp_path)

    assert "'all' means the five agents of the paper, which this version does not have yet; known: " in sentence


def test_seeds_that_are_no_range_are_refused(run: Run, tmp_path: Path) -> None:
    assert "found '6..8'" in refused(run("launch --agents null --seeds 6..8 --offline"), tmp_path)


def test_conditions_file_that_is_not_there_is_refused(run: Run, tmp_path: Path) -> None:
    done = run("launch --agents null --seeds 6 --offline --conditions no.yaml")

    assert "conditions file 'no.yaml' cannot be read" in refused(done, tmp_path)


def test_live_run_without_a_key_names_it_before_anything_else(run: Run, tmp_path: Path) -> None:
    assert "FMP_API_KEY is not set" in refused(run("launch --agents null --seeds 6"), tmp_path)


def test_no_engine_is_one_sentence_with_the_next_step(run: Run, tmp_path: Path) -> None:
    sentence = refused(run("launch --agents null --seeds 6 --offline"), tmp_path)

    assert "no Docker engine answers at unix://" in sentence
    assert "start it" in sentence


def test_run_directory_that_exists_is_refused_and_untouched(run: Run, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    done = run("launch --agents null --seeds 6 --offline --out old")

    assert done.exit_code == 2
    assert "run directory" in done.stderr
    assert "exists" in done.stderr
    assert list((tmp_path / "old").iterdir()) == []


def test_disk_nearly_full_is_refused(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> object:
        return type("Usage", (), {"free": DEFAULT_LIMITS.min_free_disk_bytes - 1})()

    monkeypatch.setattr(preflight.shutil, "disk_usage", full)

    assert "GiB free, found" in refused(run("launch --agents null --seeds 6 --offline"), tmp_path)


def test_image_that_is_not_built_is_named_with_its_command(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(_: object, names: object) -> dict[str, str]:
        raise preflight.PrerequisiteError("image 'base' is not built; run: runner images build base")

    monkeypatch.setattr(wiring.DockerMachine, "engine_version", lambda _: "20.10.24")
    monkeypatch.setattr(wiring.DockerMachine, "free_disk", lambda _: 2**40)
    monkeypatch.setattr(wiring.DockerMachine, "image_ids", missing)

    sentence = refused(run("launch --agents null --seeds 6 --offline"), tmp_path)

    assert sentence == "runner: image 'base' is not built; run: runner images build base\n"


def test_dry_run_says_everything_that_is_missing_and_starts_nothing(run: Run, tmp_path: Path) -> None:
    done = run("launch --agents controls --seeds 0-1 --repeats 2 --dry-run --json")

    plan = json.loads(done.stdout)
    assert done.exit_code == 0
    assert len(plan["sessions"]) == 8
    assert [sentence[:11] for sentence in plan["missing"]] == ["FMP_API_KEY", "no Docker e"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("given", "code"), [("flat", 0), ("grouped", 0), ("nested", 2)])
def test_shape_of_the_data_tools_is_flat_or_grouped(run: Run, given: str, code: int) -> None:
    done = run(f"launch --agents null --seeds 6 --offline --dry-run --fmp-tools {given}")

    assert done.exit_code == code


def test_dry_run_for_a_person_bounds_time_and_cost(run: Run) -> None:
    done = run("launch --agents null --seeds 6 --offline --dry-run --concurrency 1")

    assert "1 sessions, 1 at a time: null" in done.stdout
    assert "at most 30 min of sessions" in done.stdout
    assert "no model costs" in done.stdout


def test_dry_run_names_the_model_of_user_llm_and_its_missing_key(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ANTHROPIC_API_KEY", "FINCOSMOS_MODEL_KEY"):
        monkeypatch.delenv(variable, raising=False)
    done = run("launch --agents null --seeds 6 --offline --dry-run --user llm --user-model claude-test")

    assert "models of user and judge: claude-test" in done.stdout
    assert "export ANTHROPIC_API_KEY=" in done.stdout


def test_count_is_the_papers_number(run: Run) -> None:
    assert run("tasks count").stdout == "3,800,244\n"


TABLE = {
    0: ("retail_investor", "basket", 10, 7, 3, "sue / - / vix_gate / inverse_vol/none / position_stop / next_close / fixed_rate"),
    1: ("retail_investor", "sector", 4, 4, 2, "low_beta_252 / - / always_invested / equal/none / none / next_close / fixed_rate"),
    2: ("generalist_analyst", "sector", 17, 10, 5, "gross_profitability+mom_6_1+sue / zscore_mean / breadth / risk_parity/ewma / position_stop / staged / none"),
    3: ("biotech_specialist", "sector", 11, 8, 4, "rev_21+small_cap / rank_mean / always_invested / rank_weighted/none / drawdown_stop / adv_cap / fixed_rate"),
    4: ("generalist_analyst", "sector", 15, 8, 5, "rev_5+sue+book_to_price / zscore_mean / vix_gate / rank_weighted/none / vol_target / next_open / fixed_rate"),
    5: ("retail_investor", "basket", 14, 9, 4, "low_max_21+rev_21 / zscore_mean / vol_gate / mean_variance/ledoit_wolf / drawdown_stop / adv_cap / none"),
    6: ("generalist_analyst", "basket", 6, 4, 2, "mom_12_1 / - / always_invested / min_variance/sample / none / adv_cap / none"),
    7: ("biotech_specialist", "sector", 8, 4, 2, "gross_profitability+low_beta_252 / zscore_mean / always_invested / cap_weighted/none / none / next_open / none"),
    8: ("biotech_specialist", "sector", 12, 9, 4, "rev_21+low_max_21 / sequential_screen / spy_abs_mom / cap_weighted/none / position_stop / staged / fixed_rate"),
    9: ("retail_investor", "market", 6, 4, 2, "high_52w / - / spy_sma / score_weighted/none / none / staged / none"),
}  # fmt: skip
"""The ten released tasks as the specification lists them."""


def test_ten_released_tasks_are_the_specified_ones(run: Run) -> None:
    listed = json.loads(run("tasks list --json").stdout)

    found = {
        row["seed"]: (
            row["persona"], row["scope"], row["difficulty"], row["items"], len(row["opening_items"]), line(row["options"])
        )
        for row in listed
    }  # fmt: skip
    assert found == TABLE


def line(options: dict[str, object]) -> str:
    factors = "+".join(options["factors"])  # type: ignore[arg-type]
    return (
        f"{factors} / {options['combination'] or '-'} / {options['market_timing']} / {options['weighting']}/"
        f"{options['covariance']} / {options['risk_control']} / {options['execution']} / {options['transaction_cost']}"
    )


def test_show_reveals_a_strategy_only_when_asked(run: Run) -> None:
    plain = json.loads(run("tasks show 6 --json").stdout)
    sealed = json.loads(run("tasks show 6 --json --sealed").stdout)

    assert set(plain) == {"task"}
    assert sealed["strategy"]["belief"]["options"]["factors"] == ["mom_12_1"]
    assert "reveals" in run("tasks show 6 --sealed").stdout


def test_sample_of_new_tasks_is_spread_over_personas_and_scopes(run: Run) -> None:
    spread = json.loads(run("tasks sample --count 300 --from 100 --json").stdout)

    assert spread["tasks"] == 300
    assert set(spread["personas"]) == {"biotech_specialist", "generalist_analyst", "retail_investor"}
    assert set(spread["scopes"]) == {"basket", "market", "sector"}


def test_agents_list_names_both_controls(run: Run) -> None:
    assert [row["agent"] for row in json.loads(run("agents list --json").stdout)] == ["reference", "null"]


def test_doctor_says_what_is_missing_and_how_to_mend_it(run: Run) -> None:
    done = run("doctor --json")

    findings = {finding["what"]: finding for finding in json.loads(done.stdout)}
    assert done.exit_code == 2
    assert findings["python"]["state"] == "ok"
    assert findings["docker engine"]["state"] == "missing"
    assert "start it" in findings["docker engine"]["detail"]
    assert findings["data service key"]["state"] == "optional"


def test_status_of_a_folder_that_is_no_run_is_one_sentence(run: Run, tmp_path: Path) -> None:
    assert "no readable run.json" in refused(run("status nowhere"), tmp_path)


def test_status_prints_the_table_from_disk(run: Run, tmp_path: Path) -> None:
    paths = write_run(tmp_path / "r", run_record(("null", 6), ("null", 7)))
    write_attempt(paths.attempt("null", "task-6", 1, 1), EndReason.USER_LEFT)
    write_grade(paths.attempt("null", "task-6", 1, 1), grade(score=0.0, vetoes={"3.1": "fail"}))

    text = run("status r")
    data = json.loads(run("status r --json").stdout)

    assert "1 of 2 sessions ended" in text.stdout
    assert "Stand-in: FMP API: stand-in" in text.stdout
    assert data["ends"] == {"user_left": 1, "not ended": 1}


def test_show_prints_a_session_without_what_could_drive_a_terminal(run: Run, tmp_path: Path) -> None:
    reply = json.dumps({"message": "done \x1b[2J\x07[bold red]now[/] \u202eevil"}).encode()
    one = attempt(tmp_path / "r", ScriptedSandbox(runs=[result(reply)]), ScriptedUser([decision("close", "thanks")]))
    one.run()

    shown = run("show", str(one.paths.root.parent)).stdout

    assert "done [2J[bold red]now[/] evil" in shown
    assert "\x1b" not in shown
    assert "end: satisfied" in shown
    assert "no grade" in shown


def test_show_of_a_folder_without_sessions_is_one_sentence(run: Run, tmp_path: Path) -> None:
    assert "expected a session's folder" in refused(run("show", "nowhere"), tmp_path)


def test_grade_outside_a_run_is_one_sentence(run: Run, tmp_path: Path) -> None:
    assert "found no run.json above it" in refused(run("grade", "nowhere"), tmp_path)


def test_version_is_the_packages(run: Run) -> None:
    assert run("--version").stdout == f"runner, version {product_version()}\n"
