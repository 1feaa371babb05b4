"""`limnograph failpoints`: the names, one a line."""

from __future__ import annotations

import click

from limnograph.domain.failpoints import FAILPOINTS


@click.command("failpoints")
def command() -> None:
    r"""Print the names of the pipeline's failpoints.

    \b
    Example:  LIMNOGRAPH_FAILPOINT=before_append_snapshots:1:kill limnograph pipeline --once
    """
    for name in FAILPOINTS:
        click.echo(name)
