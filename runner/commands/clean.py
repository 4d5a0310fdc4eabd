"""runner clean: remove what dead runs of ours left on this machine; never a run directory, never another's container."""

import click

from runner import wiring
from runner.terminal import print_json


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def clean(*, as_json: bool) -> None:
    """Remove containers, volumes and devices that dead runs left behind."""
    removed, remaining = wiring.DockerMachine().remove_leftovers()
    if as_json:
        print_json({"removed": removed, "remaining": remaining})
    else:
        for line in removed:
            print(f"removed {line}")
        for line in remaining:
            print(line)
        if not removed and not remaining:
            print("nothing to remove")
    if remaining:
        raise click.exceptions.Exit(1)
