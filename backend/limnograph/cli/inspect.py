"""`limnograph inspect`: inspects one table in storage, as JSON or as a report. Exit codes: 0 ok or partial, 2 wrong
usage, 3 unreadable.
"""

from __future__ import annotations

import click
import msgspec
from rich.console import Console

from limnograph.cli.inspect_view import draw
from limnograph.domain.errors import InvalidInput

UNREADABLE = 3

_EXAMPLES = (
    "Exit status: 0 read completely or in part; 3 unreadable; 2 wrong usage.\n\n"
    "\b\nExamples:\n  limnograph inspect file:///warehouse/sales/orders --json\n"
    "  limnograph inspect ./orders --path-map s3://lake/sales/orders=./orders"
)


@click.command("inspect", epilog=_EXAMPLES)
@click.argument("location")
@click.option(
    "--format",
    "table_format",
    type=click.Choice(["iceberg", "delta", "hudi"]),
    help="Table format; default: detected from the folder.",
)
@click.option(
    "--path-map", multiple=True, metavar="A=B", help="Read locations that begin with A from B instead. May be repeated."
)
@click.option("--json", "as_json", is_flag=True, help="Print the full document as JSON.")
def command(location: str, table_format: str | None, path_map: tuple[str, ...], *, as_json: bool) -> None:
    """Inspect one table in storage, without a catalog. LOCATION is its folder or one of its metadata files."""
    from limnograph.wiring.locations.inspect import inspect_location

    found = inspect_location(location, table_format, dict(map(parsed_mapping, path_map)))
    if as_json:
        click.echo(msgspec.json.encode(found.document).decode())
    else:
        draw(found, Console(highlight=False))
    if found.document.status == "unreadable":
        raise SystemExit(UNREADABLE)


def parsed_mapping(text: str) -> tuple[str, str]:
    """One `--path-map`. Raises InvalidInput."""
    old, sign, new = text.partition("=")
    if not (old and sign and new):
        raise InvalidInput("--path-map", f"{text!r} must have the form A=B, such as s3://lake/orders=./orders")
    return old, new
