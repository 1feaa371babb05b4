"""`limnograph failpoints`: prints their names, one per line; with `--when`, also when `pipeline --once` passes each."""

from __future__ import annotations

import click

from limnograph.domain.failpoints import FAILPOINTS, STEPS, WHEN

_EXAMPLES = (
    "\b\nExamples:\n  LIMNOGRAPH_FAILPOINT=before_append_snapshots:1:kill limnograph pipeline --once\n"
    "  limnograph failpoints --when"
)


@click.command("failpoints", epilog=_EXAMPLES)
@click.option("--when", is_flag=True, help="Show for each step what makes `pipeline --once` pass it.")
def command(*, when: bool) -> None:
    """List the pipeline's failpoints.

    LIMNOGRAPH_FAILPOINT=NAME:NTH:kill|raise triggers the NTH time that a process passes NAME: `kill` is SIGKILL of the
    driver, `raise` an error that ends `--once` with exit 1. Each durable step has a failpoint before and one after it.
    """
    if not when:
        for name in FAILPOINTS:
            click.echo(name)
        return
    width = max(map(len, STEPS))
    for step in STEPS:
        click.echo(f"{step:<{width}}  {WHEN[step]}")
