"""`limnograph findings`: what is wrong with the tables, from the meta tables alone, now or at an earlier instant."""

from __future__ import annotations

import datetime as dt
import sys
from typing import TYPE_CHECKING

import click
import msgspec

from limnograph.cli.words import plain
from limnograph.settings import CONFIG_ENV, load

if TYPE_CHECKING:
    from limnograph.domain.answers.findings import Finding

_EPILOG = (
    "Findings of jobs are those that a server recorded; all others are evaluated from the meta tables. Codes, limits "
    "and severities: docs/findings.md.\n\n"
    "Exit status: 0 done, whatever was found; 1 the meta tables cannot be read, or the table is unknown; 2 wrong usage."
    "\n\n\b\nExamples:\n  limnograph findings --config limnograph.toml\n"
    "  limnograph findings --table lake.sales.orders --at 1795588200000\n"
    "  limnograph findings --json | jq -r 'select(.severity == \"critical\") | .table'"
)


def _team(finding: Finding) -> str:
    """What the team wrote on a finding, in brackets."""
    words = []
    if finding.acknowledged_until is not None:
        until = dt.datetime.fromtimestamp(finding.acknowledged_until / 1000, dt.UTC)
        by = plain(finding.acknowledged_by or "")
        words.append(f"acknowledged until {until:%Y-%m-%d %H:%M} UTC by {by}")
    if finding.owner:
        words.append(f"owner {plain(finding.owner)}")
    if finding.notes:
        words.append("1 note" if finding.notes == 1 else f"{finding.notes} notes")
    return f" [{'; '.join(words)}]" if words else ""


@click.command("findings", epilog=_EPILOG)
@click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default ${CONFIG_ENV}.")
@click.option("--table", metavar="NAME", help="Only this table: catalog.namespace.table.")
@click.option("--at", type=click.IntRange(min=0), metavar="MS", help="Epoch milliseconds; default: now.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per finding and line.")
def command(config: str | None, table: str | None, at: int | None, *, as_json: bool) -> None:
    """List what is wrong with the tables, the most severe first: since when, by whom, what it did to jobs, and what the
    team wrote on it. Acknowledged findings are marked.
    """
    from limnograph.domain.ids import TableName
    from limnograph.domain.time import Millis
    from limnograph.services.findings.sentences import sentence_of
    from limnograph.wiring.findings import findings_at

    name = TableName.parse(table) if table else None
    found = findings_at(load(config), None if at is None else Millis(at), name)
    for finding in found:
        if as_json:
            click.echo(msgspec.json.encode(finding).decode())
            continue
        since = dt.datetime.fromtimestamp(finding.opened_at / 1000, dt.UTC)
        where = f"{finding.catalog}.{finding.namespace}.{finding.table}"
        said = plain(sentence_of(finding))
        click.echo(
            f"{finding.severity:8}  {where}  {finding.code}  since {since:%Y-%m-%d %H:%M} UTC: {said}{_team(finding)}"
        )
    if not found and not as_json:
        click.echo("Nothing is wrong.", file=sys.stderr)
