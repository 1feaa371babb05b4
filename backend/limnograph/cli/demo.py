"""`limnograph demo`: runs the whole chain on one machine; `demo burst` and `demo compact`: commit a burst of small
files to a running demo, and merge them again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from limnograph.domain.errors import EnvironmentFault

USUAL_DIR = ".demo"
_EXAMPLES = """\b
Examples:
  limnograph demo
  limnograph demo --port 8800 --fresh
  limnograph demo --check
  limnograph demo burst          in a second terminal: an alert fires within a minute
  limnograph demo compact        merges the files of the burst again"""
_BURST_EXAMPLES = """\b
Examples:
  limnograph demo burst
  limnograph demo burst --table marketing.leads --files 5000
  limnograph demo burst --dir /tmp/demo --wait 0
  xdg-open "$(limnograph demo burst)"    open the incident once its alert has fired"""

_COMPACT_EXAMPLES = """\b
Examples:
  limnograph demo compact
  limnograph demo compact --table ops.access_logs    the table at risk is at risk no longer"""


@click.group("demo", invoke_without_command=True, epilog=_EXAMPLES)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Server port; default 8787, or any free port if it is in use."
)
@click.option("--check", is_flag=True, help="Verify the whole chain, print a JSON summary, and stop what was started.")
@click.option("--fresh", is_flag=True, help="Rebuild the lake, with a story of today.")
@click.option(
    "--jobs-every",
    type=click.IntRange(10, 600),
    default=60,
    show_default=True,
    help="Seconds between two runs of a generated job; an effect needs five runs.",
)
@click.option(
    "--login/--no-login",
    default=True,
    help="Whether the server requires a login; without one, nothing can be approved.",
)
@click.option("--dir", "root", type=click.Path(path_type=Path, file_okay=False), default=USUAL_DIR, show_default=True)
@click.pass_context
def command(
    context: click.Context, port: int | None, *, check: bool, fresh: bool, jobs_every: int, login: bool, root: Path
) -> None:
    """Start a demo lake with a story, its Prometheus, Alertmanager, the pipeline, the server and a live job.

    Everything is stored in one folder and listens on 127.0.0.1. The printed link logs your browser in. Ctrl-C stops
    all of it; the next start takes seconds.
    """
    if context.invoked_subcommand is not None:
        context.obj = root
        return
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise EnvironmentFault("the demo needs PySpark: pip install 'limnograph[spark]'") from error
    if check:
        from limnograph.demo.check.check import check as prove

        sys.exit(prove(root, port=port, fresh=fresh))
    from limnograph.demo.run import run

    run(root, port=port, fresh=fresh, jobs_every=jobs_every, login=login)


@command.command("burst", epilog=_BURST_EXAMPLES)
@click.option("--table", default="sales.customer_events", show_default=True, help="A table of the demo.")
@click.option(
    "--files", type=click.IntRange(1, 50_000), default=2_000, show_default=True, help="Number of files to commit."
)
@click.option(
    "--wait",
    type=click.FloatRange(0, 600),
    default=90,
    show_default=True,
    help="Seconds to wait for the alert; 0 does not wait.",
)
@click.option("--dir", "root", type=click.Path(path_type=Path, file_okay=False), help="Folder of the running demo.")
@click.pass_obj
def burst(usual: Path, root: Path | None, *, table: str, files: int, wait: float) -> None:
    """Commit many small files to a table of the running demo, and wait for the alert.

    The files are real. SmallFileProliferation fires above 1,000 of them within five minutes; its link is printed
    to stdout. The alert resolves about twenty minutes later.
    """
    from limnograph.demo.burst import burst as make

    click.echo(make(root or usual, table=table, files=files, wait=wait))


@command.command("compact", epilog=_COMPACT_EXAMPLES)
@click.option("--table", default="sales.customer_events", show_default=True, help="A table of the demo.")
@click.option("--dir", "root", type=click.Path(path_type=Path, file_okay=False), help="Folder of the running demo.")
@click.pass_obj
def compact(usual: Path, root: Path | None, *, table: str) -> None:
    """Merge the files of earlier bursts in a table of the running demo, or those that its nightly compaction has not
    merged.

    The finding of the burst closes, and the job that it slowed down is fast again. After eight runs the ledger of
    effects shows by how much. The risk of ops.access_logs falls with the forecast of the next full hour.
    """
    from limnograph.demo.compaction import compact as merge

    made = merge(root or usual, table=table)
    click.echo(
        f"{made.removed:,} files of lake.{made.table} were merged into {made.added:,} by snapshot {made.snapshot_id}"
    )
