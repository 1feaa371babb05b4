"""`limnograph advise`: the next action for a table, exact and priced."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import msgspec

from limnograph.cli.inspect import parsed_mapping
from limnograph.cli.words import plain
from limnograph.settings import CONFIG_ENV, load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from limnograph.domain.advice.document import Advice, Estimate
    from limnograph.domain.time import Millis
    from limnograph.wiring.locations.advise import LocationAdvice
    from limnograph.wiring.on_request.advise import CatalogAdvice

NOTHING_DUE, DUE, UNREADABLE = 0, 10, 3
_LAST_MS = 253_402_300_799_999
"""The end of the year 9999: what is larger is not in milliseconds."""
_EPILOG = (
    "A LOCATION is read without catalog, jobs and settings, and judged at the time of its newest snapshot. Nothing is "
    "written or executed.\n\n"
    "Exit status: 0 nothing is due; 10 something is due; 3 a table is unreadable; 2 wrong usage; 1 the meta tables "
    "cannot be read, or the table is unknown.\n\n"
    "\b\nExamples:\n  limnograph advise s3://lake/sales/orders\n"
    "  limnograph advise s3://lake/sales/orders --name lake.sales.orders\n"
    "  limnograph advise ./orders --now 1795588200000 --json\n"
    "  limnograph advise lake.sales.orders --config limnograph.toml\n"
    "  limnograph advise --json | jq '.tables[].recommendations[].statements.spark'"
)


@click.command("advise", epilog=_EPILOG)
@click.argument("table", metavar="[TABLE|LOCATION]", required=False)
@click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default ${CONFIG_ENV}.")
@click.option(
    "--now", type=click.IntRange(0, _LAST_MS), metavar="MS", help="Judge at this instant, epoch milliseconds."
)
@click.option(
    "--format",
    "table_format",
    type=click.Choice(["iceberg", "delta", "hudi"]),
    help="Format of the table at LOCATION; default: detected from the folder.",
)
@click.option(
    "--path-map", multiple=True, metavar="A=B", help="Read locations that begin with A from B instead. May be repeated."
)
@click.option(
    "--name",
    metavar="CATALOG.NAMESPACE.TABLE",
    help="Name of the table at LOCATION, for statements that address it by a catalog.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the document as JSON.")
def command(
    table: str | None,
    config: str | None,
    now: int | None,
    table_format: str | None,
    *,
    path_map: tuple[str, ...],
    name: str | None,
    as_json: bool,
) -> None:
    """Recommend maintenance: what to do, why, how long it takes, what it costs and what is at risk, with statements for
    Spark, Trino and Python. TABLE is catalog.namespace.table, LOCATION a table's folder or metadata file; without
    either, all tables are advised.
    """
    from limnograph.cli.advise_view import draw
    from limnograph.domain.time import Millis
    from limnograph.wiring.locations.target import is_location

    if table is not None and not table.strip():
        raise click.UsageError("TABLE or LOCATION is empty: leave it out to advise all tables of the settings.")
    instant = None if now is None else Millis(now)
    bounds: Mapping[str, Estimate] = {}
    location: str | None = None
    notes: Mapping[str, str] = {}
    if table is not None and is_location(table):
        location = table
        advice, problem, bounds = _of_location(table, table_format, path_map, instant, name)
        problems: Mapping[str, str] = {} if problem is None else {table: problem}
    elif name is not None:
        raise click.UsageError("--name is for a LOCATION: a table of the settings has a name.")
    else:
        advice, problems, notes = _of_catalogs(config, table, instant)
    if as_json:
        click.echo(msgspec.json.encode(advice).decode())
    else:
        draw(advice, sys.stdout, bounds, location)
    for subject, reason in [*notes.items(), *problems.items()]:
        click.echo(plain(f"{subject}: {reason}"), err=True)
    raise SystemExit(_status(advice))


def _of_location(
    location: str, table_format: str | None, path_map: tuple[str, ...], now: Millis | None, name: str | None
) -> LocationAdvice:
    from limnograph.domain.advice.prices import Prices
    from limnograph.domain.ids import TableName
    from limnograph.wiring.locations.advise import advise_location

    parsed = None if name is None else TableName.parse(name, "--name")
    mapping = dict(map(parsed_mapping, path_map))
    return advise_location(location, table_format, mapping, now, Prices(), name=parsed)


def _of_catalogs(config: str | None, table: str | None, now: Millis | None) -> CatalogAdvice:
    from limnograph.domain.ids import TableName
    from limnograph.wiring.on_request.advise import advise_tables

    def progress(line: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{plain(line)}", nl=False, err=True)

    name = TableName.parse(table) if table else None
    found = advise_tables(load(config), name, now, progress)
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    return found


def _status(advice: Advice) -> int:
    if any(table.status == "unreadable" for table in advice.tables):
        return UNREADABLE
    return DUE if any(table.recommendations for table in advice.tables) else NOTHING_DUE
