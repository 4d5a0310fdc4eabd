"""runner images: build what a run needs."""

import click

from runner import wiring
from runner.terminal import print_json


@click.group()
def images() -> None:
    """The images that a run needs."""


@images.command()
@click.argument("names", nargs=-1)
@click.option("--force", is_flag=True, help="Build the named images although nothing changed.")
@click.option("--quiet", is_flag=True, help="Only the result.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def build(names: tuple[str, ...], *, force: bool, quiet: bool, as_json: bool) -> None:
    """Build images, all that a run needs when no NAMES are given; one whose recipe did not change is left alone."""
    built = wiring.build_images(
        list(names), force=force, on_line=lambda line: None if quiet else click.echo(line, err=True)
    )
    if as_json:
        print_json(built)
        return
    for name, image_id in built.items():
        print(f"{name:<16} {image_id.removeprefix('sha256:')[:12]}")
