"""The command line: one file per verb, imported on use, so that `--help` is fast and extras remain optional.

Exit codes: 0 success, 1 failure, 2 wrong usage or environment, 3 unreadable table (`inspect`). JSON goes to stdout,
logs go to stderr.
"""

from __future__ import annotations

import importlib
import sys
import traceback

import click

from limnograph import __version__
from limnograph.domain.errors import EnvironmentFault, InvalidInput, LimnographError
from limnograph.domain.secrecy import clean
from limnograph.jobs.logs import configure

VERBS = {
    "advise": "Recommend maintenance, with statements, cost and what is at risk.",
    "demo": "Start a demo lake with Prometheus, the pipeline and the server.",
    "doctor": "Check an installation and suggest remedies.",
    "effect": "Measure what an operation did to a job, with bounds.",
    "explain": "Find the commit that a job's slowdown coincides with, if any.",
    "findings": "List what is wrong with the tables, now or at an earlier time.",
    "forecast": "Forecast which tables will cross a threshold, and when.",
    "failpoints": "List the pipeline's failpoints.",
    "init": "Write a first settings file for a catalog or a folder.",
    "inspect": "Inspect one table in storage, without a catalog.",
    "maintain": "Execute maintenance under a policy, and verify it from the tables.",
    "plan": "List plans of maintenance, and decide on them.",
    "pipeline": "Extract the history of every table into the meta tables.",
    "serve": "Serve the dashboard and its API.",
    "setup": "Download the jars that the pipeline's Spark needs.",
    "token": "Create, list and revoke API tokens.",
}


class Verbs(click.Group):
    """A click group that lists its verbs by name and imports one only when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command: click.Command = importlib.import_module(f"limnograph.cli.{cmd_name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(sorted(VERBS.items()))


@click.command(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="limnograph")
def _program() -> None:
    """Limnograph: the meta-observability plane of a data lakehouse.

    It records the structural history of every table and shows it next to your jobs' metrics.

    \b
    Try:  limnograph demo
          limnograph init
          limnograph inspect /warehouse/sales/orders
          limnograph serve --config limnograph.toml
    """  # noqa: D301 - click needs the control character, not an escaped backslash


def main() -> None:
    """Run the program. An expected error prints one sentence, any other a trace; credentials are masked in both."""
    configure("plain")
    try:
        _program()
    except LimnographError as error:
        click.echo(f"limnograph: {error}", err=True)
        sys.exit(2 if isinstance(error, InvalidInput | EnvironmentFault) else 1)
    except Exception:  # noqa: BLE001 - the interpreter would print it unmasked
        click.echo(clean(traceback.format_exc()), err=True)
        sys.exit(1)
