"""`limnograph setup`: downloads the jars that the pipeline's Spark needs, once, and verifies their checksums."""

from __future__ import annotations

import os
from pathlib import Path

import click

from limnograph.domain.errors import InvalidInput
from limnograph.settings import CONFIG_ENV, load

_EXAMPLES = (
    "\b\nExamples:\n  limnograph setup                       # into the user's cache, about 63 MB\n"
    "  limnograph setup --s3                  # also the S3 bundle for meta tables on S3, 61 MB more\n"
    "  limnograph setup --from /media/jars    # without a network: jars that were copied there\n"
    "  limnograph setup --into /opt/limnograph/jars\n"
    "  LIMNOGRAPH_IVY_SETTINGS=/etc/ivysettings.xml limnograph setup   # behind a mirror"
)


@click.command("setup", epilog=_EXAMPLES)
@click.option(
    "--into",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the jars; default $LIMNOGRAPH_JARS, `.tools/jars` of a checkout, or limnograph/jars in the "
    "user's cache folder (XDG_CACHE_HOME, ~/.cache).",
)
@click.option(
    "--from",
    "source",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Copy the jars from this folder instead of downloading them.",
)
@click.option("--s3", is_flag=True, help="Also create NAME-s3 next to the folder, with the S3 bundle added.")
@click.option("--config", type=click.Path(dir_okay=False), help="Settings file whose [spark.conf] configures a mirror.")
def command(into: Path | None, source: Path | None, config: str | None, *, s3: bool) -> None:
    """Download the jars that the pipeline needs: Iceberg's Spark runtime and the SQLite and PostgreSQL drivers.

    Spark's own Ivy resolves them from its configured repositories, and each is verified against the SHA-256 that this
    version was built with. Jars that are present and match are not downloaded again. Requires JDK 17 unless all jars
    are present. The first start of the pipeline does the same.
    """
    from limnograph.adapters.spark import ivy
    from limnograph.adapters.spark.jars import S3, USUAL, Jars, in_folder, install, missing, own_folder

    conf = load(config).spark.conf if config or os.environ.get(CONFIG_ENV) else {}
    folder = (into or own_folder()).absolute()
    if source is not None and source.absolute() == folder:
        raise InvalidInput("--from", "is the target folder itself; omit it")

    def fetch(jars: Jars, target: Path) -> None:
        if not missing(target, jars):
            _say(f"{len(jars.checksums)} jars in {target}, checksums match")
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
