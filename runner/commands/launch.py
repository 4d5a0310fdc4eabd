"""runner launch: plan, pre-flight, run, grade, report."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from records.limits import DEFAULT_LIMITS
from reports.collect import read_run
from reports.summary import agent_rows, session_rows
from reports.table import run_report
from runner import wiring
from runner.judging import DEFAULT_MODEL
from runner.launch import checks, is_success
from runner.launch import launch as run_order
from runner.order import USER_MODEL, Order, Plan, resolve
from runner.preflight import what_is_missing
from runner.terminal import print_json, print_report


@click.command()
@click.option("--agents", required=True, help="Names, comma-separated; 'controls' is reference,null.")
@click.option("--seeds", required=True, help="Ranges and lists of seeds: 0-9 or 1,6.")
@click.option("--repeats", default=1, show_default=True, type=click.IntRange(1, 1000), help="Sessions per task.")
@click.option("--offline", is_flag=True, help="Packaged data instead of the live data service; needs no key.")
@click.option("--concurrency", type=click.IntRange(1, 256), help="Sessions at a time.  [default: one per core]")
@click.option(
    "--user",
    default="rules",
    show_default=True,
    type=click.Choice(["rules", "llm"]),
    help="The simulated user: embedded rules, or a model that needs ANTHROPIC_API_KEY.",
)
@click.option("--user-model", default=USER_MODEL, show_default=True, help="Model of user llm.")
@click.option(
    "--judge",
    default="rules",
    show_default=True,
    type=click.Choice(["rules", "llm", "none"]),
    help="Who judges meaning: rules (never ranked), a model, or nobody.",
)
@click.option("--judge-model", default=DEFAULT_MODEL, show_default=True, help="Model of judge llm.")
@click.option(
    "--fmp-tools",
    default="flat",
    show_default=True,
    type=click.Choice(["flat", "grouped"]),
    help="Data tools an agent sees: 245, one per endpoint, or 27 groups.",
)
@click.option("--conditions", type=click.Path(path_type=Path), help="YAML file with the test conditions.")
@click.option("--salt", help="Salt of a private task set.")
@click.option("--out", type=click.Path(path_type=Path), help="Run directory to make.  [default: runs/<run id>]")
@click.option("--dry-run", is_flag=True, help="Print plan, bounds and what is missing; start nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def launch(*, dry_run: bool, as_json: bool, **options: object) -> None:
    """Run agents on tasks, grade what they delivered and print the table."""
    order = Order(**options)  # type: ignore[arg-type] # click checked every type
    if dry_run:
        _describe(resolve(order, known=wiring.AGENTS, now=datetime.now(UTC)), as_json=as_json)
        return
    plan, outcomes, stopped = run_order(order, limits=DEFAULT_LIMITS)
    run = read_run(plan.out)
    if as_json:
        print_json(
            {
                "run": plan.run_id,
                "folder": str(plan.out),
                "stopped": stopped,
                "sessions": [asdict(row) for row in session_rows(run)],
                "agents": [asdict(row) for row in agent_rows(run)],
                "notes": run_report(run).notes,
            }
        )
    else:
        print_report(run_report(run))
        print(f"Run directory: {plan.out}")
    if not is_success(plan, outcomes, stopped=stopped):
        raise click.exceptions.Exit(1)


def _describe(plan: Plan, *, as_json: bool) -> None:
    missing = what_is_missing(checks(plan, wiring.DockerMachine(), DEFAULT_LIMITS))
    models = {name: wiring.AGENTS[name].model for name in plan.agents}
    if as_json:
        print_json(
            {
                "sessions": [cell.model_dump() for cell in plan.planned],
                "concurrency": plan.concurrency,
                "longest_s": plan.longest_s,
                "models": models,
                "sealed_models": plan.order.sealed_models,
                "missing": missing,
            }
        )
        return
    print(f"{len(plan.cells)} sessions, {plan.concurrency} at a time: {', '.join(plan.agents)}")
    for cell in plan.planned:
        print(f"  {cell.agent} seed {cell.seed} ({cell.task_id}) repeat {cell.repeat}")
    print(f"at most {plan.longest_s / 60:.0f} min of sessions, gradings and voids apart")
    paid = [name for name, model in models.items() if model != "none"]
    print(f"models of agents: {', '.join(f'{name} {models[name]}' for name in paid) or 'none, no model costs'}")
    print(f"models of user and judge: {', '.join(plan.order.sealed_models) or 'none, no model costs'}")
    print("missing: " + ("; ".join(missing) if missing else "nothing"))
