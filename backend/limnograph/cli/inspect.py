"""`limnograph inspect`: one table from storage, as JSON or for the eye. Exit 0 ok or partial, 3 unreadable, 2 usage."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import msgspec
from rich.console import Console
from rich.table import Table

from limnograph.domain.errors import InvalidInput
from limnograph.services.inspect import Inspection

UNREADABLE = 3
_COLUMNS = ("operation", "files", "+", "-", "deletes", "records", "bytes", "status")


_EXAMPLES = (
    "\b\nExamples:\n  limnograph inspect file:///warehouse/sales/orders --json\n"
    "  limnograph inspect ./orders --path-map s3://lake/sales/orders=./orders"
)


@click.command("inspect", epilog=_EXAMPLES)
@click.argument("location")
@click.option(
    "--format", "table_format", type=click.Choice(["iceberg", "delta", "hudi"]), help="Default: by the folder."
)
@click.option("--path-map", multiple=True, metavar="A=B", help="Read prefix A of locations from B. May be repeated.")
@click.option("--json", "as_json", is_flag=True, help="The whole document as JSON.")
def command(location: str, table_format: str | None, path_map: tuple[str, ...], *, as_json: bool) -> None:
    """Read one table from storage: LOCATION is its folder or one of its metadata files. No catalog is needed."""
    from limnograph.wiring.inspect import inspect_location

    found = inspect_location(location, table_format, dict(map(_mapping, path_map)))
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
    else:
        _draw(found)
    if found.status == "unreadable":
        raise SystemExit(UNREADABLE)


def _mapping(text: str) -> tuple[str, str]:
    old, sign, new = text.partition("=")
    if not (old and sign and new):
        raise InvalidInput("--path-map", f"{text!r} is not A=B, as in s3://lake/orders=./orders")
    return old, new


def _draw(found: Inspection) -> None:
    console = Console(soft_wrap=False)
    console.width = max(console.width, 120)
    table = found.table
    console.print(f"[bold]{table.location or table.metadata_location}[/bold]  {found.status}", highlight=False)
    console.print(f"{table.format} v{_text(table.format_version)}  uuid {_text(table.table_uuid)}", highlight=False)
    for problem in found.problems:
        console.print(f"[yellow]{problem.code}[/yellow] {problem.detail}", highlight=False)
    rows = Table("committed (UTC)", "snapshot", *_COLUMNS)
    for column in rows.columns[:2]:
        column.no_wrap, column.min_width = True, 19
    for snapshot in found.snapshots:
        totals = snapshot.totals
        numbers = (totals.data_files, snapshot.added.data_files, snapshot.removed.data_files)
        more = (totals.delete_files, totals.records, totals.bytes)
        rows.add_row(
            _instant(snapshot.committed_at),
            snapshot.snapshot_id,
            _text(snapshot.operation),
            *map(_text, (*numbers, *more)),
            snapshot.status,
        )
    console.print(rows)


def _text(value: object) -> str:
    return "unknown" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _instant(millis: int | None) -> str:
    if millis is None:
        return "unknown"
    try:
        return datetime.fromtimestamp(millis / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return str(millis)
