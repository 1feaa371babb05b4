"""`limnograph init`: asks for a catalog, tests it and writes the first settings file."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

import click

from limnograph.adapters import private_files
from limnograph.cli.words import plain
from limnograph.domain.errors import EnvironmentFault, InvalidInput
from limnograph.settings import Settings, load
from limnograph.settings.starter import FirstFolder, starter

KINDS = ("rest", "sql", "hive", "glue", "folder")
_EPILOG = """\b
Examples:
  limnograph init
  limnograph init --type rest --uri https://catalog.example.org --warehouse s3://lake/warehouse \\
      --password-file /run/secrets/catalog
  limnograph init --type sql --uri postgresql+psycopg2://db.example.org/lake --user limnograph \\
      --password-file secrets/catalog --warehouse file:///srv/warehouse
  limnograph init --type folder --warehouse /srv/landing --format delta"""
_SCHEMES = {"rest": ("http", "https"), "hive": ("thrift",)}
_NEEDS_URI = ("rest", "sql", "hive")
_NEEDS_WAREHOUSE = ("sql", "folder")
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WITHIN_S = 20.0


class CatalogChoice(NamedTuple):
    """What the caller chose; texts are checked, files are not read."""

    kind: str
    name: str
    uri: str
    warehouse: str
    user: str
    password_file: Path | None
    properties: dict[str, str]


@click.command(help="Write a first settings file for a catalog or a folder, after testing it.", epilog=_EPILOG)
@click.option("--type", "kind", type=click.Choice(KINDS), help="Catalog, or a folder of tables without one.")
@click.option("--name", default="lake", show_default=True, help="Name of the catalog in settings, URLs and alerts.")
@click.option("--uri", default="", help="Address of the catalog, without a password.")
@click.option("--warehouse", default="", help="Warehouse of the catalog, or the folder: a path or URL.")
@click.option("--user", default="", help="Database user of a sql catalog, or client id of a rest catalog.")
@click.option(
    "--password-file",
    type=click.Path(path_type=Path),
    help="File with the password; for a rest catalog without --user, the token.",
)
@click.option(
    "--format", "table_format", type=click.Choice(["delta", "hudi", "iceberg"]), help="Only tables of a folder in it."
)
@click.option("--property", "given", multiple=True, help="Another property of the catalog: s3.region=eu-central-1.")
@click.option("--prometheus", help="Address of Prometheus, such as http://127.0.0.1:9090.")
@click.option("--output", type=click.Path(path_type=Path), default=Path("limnograph.toml"), show_default=True)
@click.option("--force", is_flag=True, help="Replace an existing file.")
@click.option("--no-test", is_flag=True, help="Write the file without connecting to anything.")
def command(  # one parameter per option
    *,
    kind: str | None,
    name: str,
    uri: str,
    warehouse: str,
    user: str,
    password_file: Path | None,
    table_format: str | None,
    given: tuple[str, ...],
    prometheus: str | None,
    output: Path,
    force: bool,
    no_test: bool,
) -> None:
    """Ask for what is missing if a person can answer; an error names the option otherwise."""
    if output.exists() and not force:
        raise InvalidInput("--output", f"{output} exists; choose another file, or pass --force to replace it")
    asks = sys.stdin.isatty()
    kind = kind or _asked(asks, "--type", f"Catalog ({', '.join(KINDS)})", "rest")
    if kind not in KINDS:
        raise InvalidInput("--type", f"{kind!r} is none of {', '.join(KINDS)}")
    if kind in _NEEDS_URI and not uri:
        uri = _asked(asks, "--uri", "Address of the catalog, without a password")
    if kind in _NEEDS_WAREHOUSE and not warehouse:
        warehouse = _asked(asks, "--warehouse", "Folder of the tables" if kind == "folder" else "Warehouse")
    if table_format and kind != "folder":
        raise InvalidInput("--format", "applies to --type folder only; a catalog knows the format of its tables")
    choice = CatalogChoice(kind, name, uri, warehouse, user, password_file, _pairs(given))
    _check(choice)
    _check_url("--prometheus", prometheus, ("http", "https"))
    secret = _secret(choice, output)
    catalogs, folder = _catalogs(choice, secret, output, table_format or "")
    text = starter(catalogs, folder=folder, prometheus=prometheus)
    with _tried(output, text) as draft, _kept(secret):
        settings = load(str(draft))
        if not no_test:
            _test(settings)
        draft.replace(output)
    click.echo(f"{output} is written and readable by you alone. Next:")
    for verb in ("doctor", "setup", "pipeline --once", "serve"):
        config = "" if verb == "setup" else f" --config {output}"
        click.echo(f"  limnograph {verb}{config}")


def _asked(asks: bool, option: str, question: str, default: str | None = None) -> str:
    if not asks:
        raise InvalidInput(option, "is required: there is no terminal for questions")
    answer: str = click.prompt(question, default=default)
    return answer.strip()


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise InvalidInput("--property", f"{text!r} must be a name and a value, such as s3.region=eu-central-1")
        if re.search(r"password|secret|token|credential", key):
            raise InvalidInput(
                "--property",
                f"{key}: a secret on a command line is visible to other users; put it into "
                f"a file and write `{key}_file` into the settings file",
            )
        found[key.strip()] = value.strip()
    return found


def _check(choice: CatalogChoice) -> None:
    if not _NAME.fullmatch(choice.name):
        raise InvalidInput("--name", f"{choice.name!r} must consist of letters, digits, - and _")
    if choice.uri and urlsplit(choice.uri).password:
        raise InvalidInput("--uri", "contains a password; remove it and pass --user and --password-file")
    if choice.kind in _SCHEMES:
        _check_url("--uri", choice.uri, _SCHEMES[choice.kind])
    if choice.kind == "sql" and "://" not in choice.uri:
        raise InvalidInput(
            "--uri", f"{choice.uri!r} is not a database URL, such as postgresql+psycopg2://host/database"
        )
    _check_password(choice)
    if choice.kind == "folder" and "://" not in choice.warehouse and not Path(choice.warehouse).is_dir():
        raise InvalidInput("--warehouse", f"{choice.warehouse} is not a folder")


def _check_password(choice: CatalogChoice) -> None:
    if choice.password_file is not None:
        if choice.kind not in {"sql", "rest"}:
            raise InvalidInput("--password-file", f"does not apply to --type {choice.kind}")
        if choice.kind == "sql" and not choice.user:
            raise InvalidInput("--user", "is required with --password-file")
        if not choice.password_file.is_file():
            raise InvalidInput("--password-file", f"{choice.password_file} is not a file")
    elif choice.user and choice.kind == "rest":
        raise InvalidInput("--password-file", "is required with --user: it holds the client's secret")


def _check_url(option: str, url: str | None, schemes: tuple[str, ...]) -> None:
    if url is None:
        return
    parts = urlsplit(url)
    if parts.scheme not in schemes or not parts.hostname:
        wanted = " or ".join(f"{scheme}://" for scheme in schemes)
        raise InvalidInput(option, f"{url!r} must begin with {wanted} and name a host")


def _secret(choice: CatalogChoice, output: Path) -> tuple[Path, str] | None:
    """A private file beside the settings file, and its content: what holds the password together with other text."""
    if choice.password_file is None or not choice.user:
        return None
    password = choice.password_file.read_text().strip()
    folder = output.absolute().parent / "secrets"
    if choice.kind == "rest":
        return folder / f"{choice.name}-credential", f"{choice.user}:{password}"
    parts = urlsplit(choice.uri)
    place = f"{quote(choice.user, safe='')}:{quote(password, safe='')}@{parts.netloc.rpartition('@')[2]}"
    return folder / f"{choice.name}-uri", urlunsplit(parts._replace(netloc=place))


def _catalogs(
    choice: CatalogChoice, secret: tuple[Path, str] | None, output: Path, table_format: str
) -> tuple[dict[str, dict[str, str]], FirstFolder | None]:
    """The catalogs of the settings, and the folder. A folder's meta tables have a catalog of their own."""
    if choice.kind == "folder":
        state = output.absolute().parent / ".limnograph"
        own = {"type": "sql", "uri": f"sqlite:///{state}/catalog.db", "warehouse": f"file://{state}/meta"}
        location = choice.warehouse if "://" in choice.warehouse else str(Path(choice.warehouse).absolute())
        return {"meta": own}, FirstFolder(choice.name, location, table_format)
    found = {"type": choice.kind}
    if secret is not None and choice.kind == "sql":
        found["uri_file"] = f"secrets/{secret[0].name}"
    elif choice.uri:
        found["uri"] = choice.uri
        if choice.kind == "sql" and choice.user:
            parts = urlsplit(choice.uri)
            found["uri"] = urlunsplit(parts._replace(netloc=f"{quote(choice.user, safe='')}@{parts.netloc}"))
    if choice.kind == "rest" and choice.password_file is not None:
        key, file = ("credential_file", f"secrets/{secret[0].name}") if secret else ("token_file", None)
        found[key] = file or str(choice.password_file.absolute())
    if choice.warehouse:
        found["warehouse"] = choice.warehouse
    return {choice.name: {**found, **choice.properties}}, None


@contextlib.contextmanager
def _tried(output: Path, text: str) -> Iterator[Path]:
    """A private draft beside the settings file, which is removed if anything fails."""
    draft = output.with_name(f".{output.name}.draft")
    try:
        private_files.make_folder(output.absolute().parent)
        private_files.write(draft, text.encode())
    except OSError as error:
        raise EnvironmentFault(f"{output} cannot be written: {error.strerror}") from error
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


@contextlib.contextmanager
def _kept(secret: tuple[Path, str] | None) -> Iterator[None]:
    """The private file of a secret, which is removed if anything fails and was not there before."""
    if secret is None:
        yield
        return
    path, content = secret
    before = path.read_bytes() if path.exists() else None
    private_files.make_folder(path.parent)
    private_files.write(path, content.encode())
    try:
        yield
    except BaseException:
        path.unlink() if before is None else private_files.write(path, before)
        raise


def _test(settings: Settings) -> None:
    """Connect to what was chosen. Raises EnvironmentFault with the first failed check."""
    from limnograph.services.server import doctor
    from limnograph.wiring.doctor.checks import first_checks

    for found in doctor.run(first_checks(settings), _WITHIN_S):
        detail = found.detail.removeprefix(f"{found.name}: ")
        click.echo(f"{found.status:4}  {found.name}  {plain(detail)}")
        if found.status == "fail":
            raise EnvironmentFault(
                f"{found.name}: {detail}; correct --uri, --warehouse, --user or --password-file, or pass "
                "--no-test to write the file anyway"
            )
