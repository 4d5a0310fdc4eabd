"""runner agents: who can be launched."""

import click

from reports.table import Table
from runner.terminal import console, print_json, print_table
from runner.wiring import AGENTS


@click.group()
def agents() -> None:
    """Agents that can be launched."""


@agents.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_(*, as_json: bool) -> None:
    """List the agents with their image and model."""
    if as_json:
        print_json(
            [
                {"agent": agent.name, "image": agent.image, "model": agent.model, "what": agent.what}
                for agent in AGENTS.values()
            ]
        )
        return
    rows = tuple((agent.name, agent.image, agent.model, agent.what) for agent in AGENTS.values())
    print_table(Table("Agents", ("agent", "image", "model", "what"), rows), console())
