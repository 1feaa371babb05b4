"""`limnograph failpoints`: the names, one a line."""

from __future__ import annotations

import click

from limnograph.domain.failpoints import FAILPOINTS

_EXAMPLES = "\b\nExample:\n  LIMNOGRAPH_FAILPOINT=before_append_snapshots:1:kill limnograph pipeline --once"


@click.command("failpoints", epilog=_EXAMPLES)
def command() -> None:
    """Print the names of the pipeline's failpoints."""
    for name in FAILPOINTS:
        click.echo(name)
