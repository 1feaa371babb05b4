"""`limnograph setup`: the jars that the pipeline's Spark needs, fetched once, compared with their checksums."""

from __future__ import annotations

import os
from pathlib import Path

import click

from limnograph.domain.errors import InvalidInput
from limnograph.settings import CONFIG_ENV, load

_EXAMPLES = (
    "\b\nExamples:\n  limnograph setup                       # into the user's cache, about 63 MB\n"
    "  limnograph setup --s3                  # and what meta tables on S3 need, 61 MB more\n"
    "  limnograph setup --from /media/jars    # no network: jars that were copied there\n"
    "  limnograph setup --into /opt/limnograph/jars\n"
    "  LIMNOGRAPH_IVY_SETTINGS=/etc/ivysettings.xml limnograph setup   # behind a mirror"
)


@click.command("setup", epilog=_EXAMPLES)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the jars; default LIMNOGRAPH_JARS, `.tools/jars` of a checkout, else limnograph/jars in the cache "
    "folder of the user (XDG_CACHE_HOME, ~/.cache).",
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Take the jars from this folder instead of downloading them.",
)
@click.option("--s3", is_flag=True, help="Beside the folder another one, NAME-s3, with the bundle for S3 as well.")
@click.option(
    "--config", type=click.Path(dir_okay=False), help="Settings file whose [spark.conf] says how to reach a mirror."
)
def command(into: Path | None, source: Path | None, config: str | None, *, s3: bool) -> None:
    """Fetch the jars that the pipeline needs: Iceberg's Spark runtime, drivers of SQLite and PostgreSQL.

    They are resolved by Spark's own Ivy from the repositories that it is set up for, and each is compared with the
    SHA-256 that this version was made with. What is there and right is not fetched again. Needs a JDK 17, unless all
    are there. The first start of the pipeline does the same.
    """
    from limnograph.adapters.spark import ivy
    from limnograph.adapters.spark.jars import S3, USUAL, Jars, in_folder, install, missing, own_folder

    conf = load(config).spark.conf if config or os.environ.get(CONFIG_ENV) else {}
    folder = (into or own_folder()).absolute()
    if source is not None and source.absolute() == folder:
        raise InvalidInput("--from", "is the folder to be filled; leave it out")

    def fetch(jars: Jars, target: Path) -> None:
        if not missing(target, jars):
            _say(f"{len(jars.checksums)} jars in {target}, checksums right")
        elif source is not None:
            install(jars, target, in_folder(source, jars), _say)
        else:
            install(jars, target, ivy.resolver(jars.coordinates, conf, _say, jars.megabytes), _say)

    fetch(USUAL, folder)
    if s3:
        beside = folder.with_name(f"{folder.name}-s3")
        install(USUAL, beside, in_folder(folder, USUAL), lambda _line: None)
        fetch(S3, beside)
        _say(f'set [spark] jars = "{beside}"')


def _say(line: str) -> None:
    click.echo(line, err=True)
