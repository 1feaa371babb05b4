"""`limnograph pipeline`: passes until nothing is due (`--once`), or a structured stream until it is told to stop."""

from __future__ import annotations

import re
from pathlib import Path

import click
import msgspec

from limnograph.domain.errors import InvalidInput
from limnograph.settings import load

_TRIGGER = re.compile(r"(\d+)\s*(s|m)")


_EXAMPLES = "\b\nExamples:\n  limnograph pipeline --config limnograph.toml --once\n  limnograph pipeline --trigger 10s"


@click.command("pipeline", epilog=_EXAMPLES)
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Settings file; default LIMNOGRAPH_CONFIG."
)
@click.option("--once", is_flag=True, help="Make passes until nothing is due, then end.")
@click.option("--json", "as_json", is_flag=True, help="JSON lines only on stdout (they are always the last ones).")
@click.option("--trigger", default="60s", show_default=True, help="Time between two passes of the stream: 10s, 5m.")
def command(config: Path | None, *, once: bool, as_json: bool, trigger: str) -> None:
    """Extract the history of every observed table into the meta tables."""
    settings = load(config)
    interval = _seconds(trigger)
    from limnograph.jobs.pipeline import run_once, run_stream

    if once:
        total = run_once(settings, _progress)
        if not as_json:
            _progress(f"{total.snapshots_appended} snapshots appended in {total.seconds} s")
        click.echo(msgspec.json.encode(total.document()).decode())
        raise SystemExit(1 if total.failed else 0)
    run_stream(settings, interval, _progress)


def _seconds(trigger: str) -> int:
    match = _TRIGGER.fullmatch(trigger.strip())
    if not match or int(match[1]) == 0:
        raise InvalidInput("--trigger", f"{trigger!r} is not a time; write 60s or 5m")
    return int(match[1]) * (60 if match[2] == "m" else 1)


def _progress(line: str) -> None:
    click.echo(line, err=True)
