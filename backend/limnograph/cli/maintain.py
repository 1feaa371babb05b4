"""`limnograph maintain`: executes maintenance under the policy of its own file, and verifies it from the tables."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from limnograph.cli.words import plain
from limnograph.domain.errors import EnvironmentFault, InvalidInput, LimnographError
from limnograph.domain.secrecy import clean

if TYPE_CHECKING:
    from limnograph.services.maintenance.report import RoundReport

_log = logging.getLogger("limnograph.maintain")
_EPILOG = (
    "Nothing is changed unless the file's mode, or that of a policy, is `approve` or `auto`. --dry-run changes nothing "
    "in any mode. What another process left is recovered first: the stamps in the tables decide.\n\n"
    "Exit status: 0 all is well; 1 an action or a verification failed, or a table could not be read; 2 wrong usage, or "
    "the mode permits nothing.\n\n"
    "\b\nExamples:\n  limnograph maintain --maintenance maintenance.toml --dry-run\n"
    "  limnograph maintain --maintenance maintenance.toml --config limnograph.toml --once --json\n"
    "  limnograph maintain --maintenance maintenance.toml --plan 4f1c0b9e8a7d6c5b4a39281706f5e4d3\n"
    "  limnograph maintain --maintenance maintenance.toml --watch\n"
    "  limnograph maintain --maintenance maintenance.toml --dry-run --json | jq '.plans[] | {table, rule, would, text}'"
)


@click.command("maintain", epilog=_EPILOG)
@click.option(
    "--maintenance",
    "file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with the policy and the credentials that may write.",
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Settings file; default $LIMNOGRAPH_CONFIG, else the settings are in the maintenance file.",
)
@click.option("--once", is_flag=True, help="Process everything that is due, then exit. This is the default.")
@click.option("--watch", is_flag=True, help="Run until SIGTERM or SIGINT.")
@click.option("--plan", "plan_id", metavar="ID", help="Only this plan.")
@click.option("--dry-run", is_flag=True, help="Print what would be done, and why not; change nothing.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print a summary as JSON on stdout; with --watch, one line a round."
)
@click.option("--verbose", is_flag=True, help="Write stack traces and Spark's errors to stderr instead of a file.")
def command(
    file: Path,
    config: Path | None,
    *,
    once: bool,
    watch: bool,
    plan_id: str | None,
    dry_run: bool,
    as_json: bool,
    verbose: bool,
) -> None:
    """Execute maintenance: approved plans, and in mode `auto` what the policy lets run. Each action runs under a lease
    of its table, is planned again from the table itself, and is verified by Limnograph's own reader.
    """
    if watch and (once or dry_run or plan_id is not None):
        raise InvalidInput("--watch", "cannot be combined with --once, --plan or --dry-run")
    from limnograph.jobs.maintain import dry_run as dry
    from limnograph.jobs.maintain import maintain_always, maintain_once
    from limnograph.settings.maintenance import load_maintenance
    from limnograph.wiring.maintain.building import spark_log
    from limnograph.wiring.state import private_state

    maintain = load_maintenance(file, config)
    private_state(maintain.settings)
    try:
        if watch:
            maintain_always(maintain, _progress, lambda report: _tell(report, as_json=as_json), verbose=verbose)
            return
        report = (dry if dry_run else maintain_once)(maintain, _progress, plan_id=plan_id, verbose=verbose)
    except (InvalidInput, EnvironmentFault):
        raise
    except LimnographError as error:
        _log.debug("maintenance failed", exc_info=error)
        if spark_log(maintain).exists():
            _progress(f"limnograph: Spark's log is {spark_log(maintain)}")
        raise
    if plan_id is not None and not report.plans and not report.troubles:
        raise InvalidInput("--plan", f"{plan_id[:64]!r} is neither approved nor due for a table that a policy names")
    _tell(report, as_json=as_json)
    sys.exit(1 if report.failed else 0)


def _tell(report: RoundReport, *, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
        return
    for plan in report.plans:
        said = plan.would or plan.state or ""
        policy = f" ({plan.policy})" if plan.policy else ""
        click.echo(
            plain(f"{plan.table}  {plan.rule}  {plan.id}  {said}{policy}{f': {plan.text}' if plan.text else ''}")
        )
    for each in report.unplanned:
        click.echo(plain(f"{each.table}  {each.rule}  no plan: {each.text}"))
    for trouble in report.troubles:
        click.echo(plain(f"{trouble.table}: {trouble.text}"), err=True)
    click.echo(f"{report.tables} tables, {len(report.plans)} plans in {report.seconds:.1f} s", err=True)


def _progress(line: str) -> None:
    click.echo(clean(plain(line)), err=True)
