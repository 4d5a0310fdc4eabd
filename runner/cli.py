"""The command line. Exit codes: 0 done, 1 the work failed, 2 usage or prerequisite; a foreseen fault is one sentence."""

import sys
from typing import Any

import click

from records.errors import EvalError
from runner.commands.agents import agents
from runner.commands.clean import clean
from runner.commands.doctor import doctor
from runner.commands.feedback import feedback
from runner.commands.grade import grade
from runner.commands.images import images
from runner.commands.launch import launch
from runner.commands.replay import replay
from runner.commands.report import report
from runner.commands.show import show
from runner.commands.status import status
from runner.commands.tasks import tasks
from runner.versions import product_version


class Program(click.Group):
    """A group whose foreseen faults end as one sentence on standard error."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command and turn an EvalError into its sentence and exit code."""
        try:
            return super().invoke(ctx)
        except EvalError as error:
            click.echo(f"runner: {error}", err=True)
            ctx.exit(error.exit_code)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(product_version(), prog_name="runner")
def program() -> None:
    """Measure whether an agent can be trusted with financial work in the open world."""


for command in (launch, status, show, grade, feedback, report, replay, tasks, agents, images, doctor, clean):
    program.add_command(command)


def main() -> None:
    """Run the program on the command line's arguments."""
    program(args=sys.argv[1:], prog_name="runner")
