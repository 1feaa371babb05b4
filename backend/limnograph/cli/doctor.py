"""`limnograph doctor`: checks what an installation needs; one line per check, with the remedy."""

from __future__ import annotations

import sys

import click
import msgspec

from limnograph.cli.words import plain
from limnograph.settings import CONFIG_ENV, load

_EPILOG = "Example:  limnograph doctor --config limnograph.toml"


@click.command(
    help="Check Java, Spark, catalogs, meta tables and every source; exit 1 if any check fails.", epilog=_EPILOG
)
@click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default ${CONFIG_ENV}.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
@click.option(
    "--within", type=click.FloatRange(0.1, 600), default=10.0, show_default=True, help="Total time limit in seconds."
)
def command(config: str | None, *, as_json: bool, within: float) -> None:
    """Load the settings, run all checks concurrently, print."""
    from limnograph.services.server import doctor
    from limnograph.wiring.doctor.checks import checks

    found = doctor.run(checks(load(config)), within)
    if as_json:
        click.echo(msgspec.json.encode({"ok": doctor.well(found), "checks": found}).decode())
    else:
        width = max(len(finding.name) for finding in found)
        for finding in found:
            remedy = f"  → {finding.remedy}" if finding.remedy else ""
            click.echo(f"{finding.status:4}  {finding.name:{width}}  {plain(finding.detail)}{plain(remedy)}")
    sys.exit(0 if doctor.well(found) else 1)
