"""`limnograph demo`: the whole chain on one machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from limnograph.domain.errors import EnvironmentFault


@click.command(
    "demo",
    epilog="\b\nExamples:\n  limnograph demo\n  limnograph demo --port 8800 --fresh\n  limnograph demo --check",
)
@click.option("--port", type=click.IntRange(1, 65535), help="Port of the server; default 8787, or a free one.")
@click.option("--check", is_flag=True, help="Prove the whole chain, print a JSON summary, stop what was started.")
@click.option("--fresh", is_flag=True, help="Build the lake anew, with a story of today.")
@click.option("--dir", "root", type=click.Path(path_type=Path, file_okay=False), default=".demo", show_default=True)
def command(port: int | None, *, check: bool, fresh: bool, root: Path) -> None:
    """Start a demo lake with a story, its Prometheus, the pipeline, the server and a live job.

    Everything lies in one folder and listens on 127.0.0.1. Ctrl-C ends all of it; the next start takes seconds.
    """
    try:
        import pyspark  # noqa: F401
    except ImportError as error:
        raise EnvironmentFault("the demo needs PySpark: pip install 'limnograph[spark]'") from error
    if check:
        from limnograph.demo.check import check as prove

        sys.exit(prove(root, port=port, fresh=fresh))
    from limnograph.demo.run import run

    run(root, port=port, fresh=fresh)
