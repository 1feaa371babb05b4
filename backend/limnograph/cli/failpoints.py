"""`limnograph failpoints`: prints their names, one per line; with `--when`, also when `pipeline --once` or `maintain`
passes each.
"""

from __future__ import annotations

import click

from limnograph.domain.failpoints import FAILPOINTS, MAINTAIN_FAILPOINTS, MAINTAIN_WHEN, STEPS, WHEN

_EXAMPLES = (
    "\b\nExamples:\n  LIMNOGRAPH_FAILPOINT=before_append_snapshots:1:kill limnograph pipeline --once\n"
    "  limnograph failpoints --when"
)


@click.command("failpoints", epilog=_EXAMPLES)
@click.option("--when", is_flag=True, help="Show what makes `pipeline --once` or `maintain` pass each.")
def command(*, when: bool) -> None:
    """List the failpoints of the pipeline and of `limnograph maintain`.

    LIMNOGRAPH_FAILPOINT=NAME:NTH:kill|raise triggers the NTH time that a process passes NAME: `kill` is SIGKILL of the
    driver, `raise` an error that ends `--once` with exit 1. Each durable step of the pipeline has a failpoint before
    and one after it.
    """
    if not when:
        for name in (*FAILPOINTS, *MAINTAIN_FAILPOINTS):
            click.echo(name)
        return
    width = max(map(len, (*STEPS, *MAINTAIN_WHEN)))
    for step, sentence in {**WHEN, **MAINTAIN_WHEN}.items():
        click.echo(f"{step:<{width}}  {sentence}")
