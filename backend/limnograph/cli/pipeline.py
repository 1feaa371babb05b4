"""`limnograph pipeline`: passes until nothing is due (`--once`), a repair, a rebuild, or a continuous stream."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
import msgspec

from limnograph.adapters.system_clock import SystemClock
from limnograph.domain.errors import EnvironmentFault, InvalidInput, LimnographError
from limnograph.domain.facts.meta_tables import META_TABLES, MetaTable
from limnograph.domain.failpoints import FailpointReached
from limnograph.domain.ids import TableName
from limnograph.domain.secrecy import clean
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.settings import load

if TYPE_CHECKING:
    from limnograph.jobs.pipeline import RebuildTotal
    from limnograph.services.pipeline.repair import RepairReport

_log = logging.getLogger("limnograph.pipeline")
_TRIGGER = re.compile(r"(\d+)\s*(s|m)")
_AGO = re.compile(r"(\d{1,6})\s*(m|h|d)")


_EXAMPLES = (
    "\b\nExamples:\n  limnograph pipeline --config limnograph.toml --once\n  limnograph pipeline --trigger 10s\n"
    "  limnograph pipeline --reextract lake.sales.orders --since 48h\n"
    "  limnograph pipeline --rebuild                  # meta tables that were deleted\n"
    "  limnograph pipeline --rebuild snapshots --yes  # drop it first"
)
_NAMES = {table.name: table for table in META_TABLES}
_UNREPEATABLE = {"runs", "alerts", "reports", "labels", "notes", "maintenance"}
"""Meta tables whose rows cannot be rebuilt from the lake."""


@click.command("pipeline", epilog=_EXAMPLES)
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Settings file; default $LIMNOGRAPH_CONFIG."
)
@click.option("--once", is_flag=True, help="Run passes until nothing is due, then exit.")
@click.option("--retry-damaged", is_flag=True, help="Re-extract rows that are partial or unreadable, then exit.")
@click.option("--reextract", metavar="TABLE", help="Re-extract all rows of catalog.namespace.table, then exit.")
@click.option(
    "--since",
    metavar="TIME",
    help="With --reextract: only commits since a time, such as 2026-11-20, 2026-11-20T03:05Z or 48h.",
)
@click.option("--rebuild", is_flag=True, help="Rebuild meta tables that were deleted (or TABLES), then exit.")
@click.option("--yes", is_flag=True, help="With --rebuild TABLES: confirm dropping existing tables.")
@click.argument("tables", nargs=-1)
@click.option(
    "--json", "as_json", is_flag=True, help="Print only JSON lines on stdout (they are always the last lines)."
)
@click.option("--verbose", is_flag=True, help="Write stack traces and Spark's errors to stderr instead of a file.")
@click.option("--trigger", help="Time between two passes of the stream, such as 10s or 5m; default 60s.")
def command(
    config: Path | None,
    *,
    once: bool,
    retry_damaged: bool,
    reextract: str | None,
    since: str | None,
    rebuild: bool,
    yes: bool,
    tables: tuple[str, ...],
    as_json: bool,
    verbose: bool,
    trigger: str | None,
) -> None:
    """Extract the history of every observed table into the meta tables."""
    if once + retry_damaged + (reextract is not None) + rebuild > 1:
        raise InvalidInput("--once, --retry-damaged, --reextract, --rebuild", "are mutually exclusive")
    if trigger is not None and (once or retry_damaged or reextract is not None or rebuild):
        raise InvalidInput("--trigger", "cannot be combined with --once, --retry-damaged, --reextract or --rebuild")
    named = _named(tables, rebuild=rebuild, yes=yes)
    if since is not None and reextract is None:
        raise InvalidInput("--since", "requires --reextract")
    name = TableName.parse(reextract, "--reextract") if reextract is not None else None
    begin = instant(since) if since is not None else None
    settings = load(config)
    interval = _seconds(trigger or "60s")
    from limnograph.jobs.pipeline import rebuild_once, repair_once, run_once, run_stream
    from limnograph.wiring.pipeline import spark_log
    from limnograph.wiring.state import private_state

    private_state(settings)

    verbose = verbose or not _writable(spark_log(settings))
    with _told(spark_log(settings), verbose=verbose):
        if retry_damaged:
            report = repair_once(settings, lambda repairs: repairs.retry_damaged(), _progress, verbose=verbose)
            _tell_repair(report, as_json=as_json)
        if name is not None:
            again = lambda repairs: repairs.reextract(name, begin, "--reextract")  # noqa: E731
            _tell_repair(repair_once(settings, again, _progress, verbose=verbose), as_json=as_json)
        if once:
            total = run_once(settings, _progress, verbose=verbose)
            if not as_json:
                _progress(f"{total.snapshots_appended} snapshots appended in {total.seconds} s")
            click.echo(msgspec.json.encode(total.document()).decode())
            raise SystemExit(1 if total.failed else 0)
        if rebuild:
            _tell_rebuild(rebuild_once(settings, named, _progress, verbose=verbose), as_json=as_json)
        run_stream(settings, interval, _progress, verbose=verbose)


@contextmanager
def _told(file: Path, *, verbose: bool) -> Iterator[None]:
    """Print one line on stderr per error inside, and write stack traces to `file`, which the last line names."""
    from limnograph.jobs.logs import cause, configure

    if verbose:
        yield
        return
    try:
        configure("plain", traces=file)
        yield
    except SystemExit as end:
        if end.code:
            _point_at(file)
        raise
    except EnvironmentFault:
        raise
    except LimnographError as error:
        _log.debug("the pipeline failed", exc_info=error)
        _progress(f"limnograph: {error}")
        _point_at(file)
        raise SystemExit(2 if isinstance(error, InvalidInput) else 1) from error
    except FailpointReached:
        raise
    except Exception as error:
        _log.exception("the pipeline failed")
        _progress(f"limnograph: unexpected {cause(error)}")
        _point_at(file)
        raise SystemExit(1) from error


def _writable(file: Path) -> bool:
    """Whether a log can be written there. If not, as in a container with a read-only disk, stderr gets everything."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        with file.open("a"):
            return True
    except OSError:
        return False


def _point_at(file: Path) -> None:
    if file.exists() and file.stat().st_size:
        _progress(f"limnograph: Spark's log and all stack traces are in {file}")


def _named(tables: tuple[str, ...], *, rebuild: bool, yes: bool) -> list[MetaTable]:
    """The meta tables to drop and rebuild. Raises InvalidInput."""
    if tables and not rebuild:
        raise InvalidInput("TABLES", f"{' '.join(tables)}: table names require --rebuild")
    if yes and not tables:
        raise InvalidInput("--yes", "requires --rebuild with table names")
    for name in tables:
        if name not in _NAMES:
            raise InvalidInput("--rebuild", f"{name!r} is not a meta table; choose from {', '.join(sorted(_NAMES))}")
    if tables and not yes:
        lost = [name for name in tables if name in _UNREPEATABLE]
        more = f"; rows of {', '.join(lost)} cannot be recovered" if lost else ""
        raise InvalidInput("--rebuild", f"drops {', '.join(tables)} with all rows{more}; confirm with --yes")
    return [_NAMES[name] for name in tables]


def _tell_rebuild(done: RebuildTotal, *, as_json: bool) -> NoReturn:
    """Print the result of a rebuild and exit, with 1 if anything was unreadable."""
    if not as_json:
        _progress(f"rebuilt: {', '.join(done.rebuilt.tables) or 'no table was missing'}")
        if done.rebuilt.emptied:
            _progress(f"empty, because their rows cannot be recovered: {', '.join(done.rebuilt.emptied)}")
        if done.rebuilt.gaps:
            _progress(
                f"{done.rebuilt.forgotten} snapshots of {done.rebuilt.gaps} tables are no longer in the lake: recorded "
                "as gaps"
            )
    click.echo(msgspec.json.encode(done.document()).decode())
    raise SystemExit(1 if done.total.failed else 0)


def _tell_repair(report: RepairReport, *, as_json: bool) -> NoReturn:
    """Print the result of a repair and exit, with 1 if anything was unreadable."""
    for sentence in report.failed:
        _progress(f"unchanged: {sentence}")
    if not as_json:
        _progress(f"{report.snapshots_replaced} rows replaced in {report.seconds} s")
    click.echo(msgspec.json.encode(report.document()).decode())
    raise SystemExit(1 if report.failed else 0)


def instant(text: str) -> int:
    """Epoch microseconds of an ISO date or time (UTC if it has no zone), or of a duration before now."""
    if match := _AGO.fullmatch(text.strip()):
        seconds = int(match[1]) * {"m": 60, "h": 3_600, "d": 86_400}[match[2]]
        return SystemClock().now() - seconds * MICROS_PER_SECOND
    try:
        found = datetime.fromisoformat(text.strip())
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * MICROS_PER_SECOND)
    except (ValueError, OverflowError) as error:
        raise InvalidInput("--since", f"{text!r} is not a time; write 2026-11-20, 2026-11-20T03:05Z or 48h") from error


def _seconds(trigger: str) -> int:
    match = _TRIGGER.fullmatch(trigger.strip())
    if not match or int(match[1]) == 0:
        raise InvalidInput("--trigger", f"{trigger!r} is not a duration; write 60s or 5m")
    return int(match[1]) * (60 if match[2] == "m" else 1)


def _progress(line: str) -> None:
    click.echo(clean(line), err=True)
