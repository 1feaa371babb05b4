"""`limnograph pipeline`: passes until nothing is due (`--once`), a repair, or a stream until it is told to stop."""

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
    "  limnograph pipeline --rebuild                  # what was deleted by hand\n"
    "  limnograph pipeline --rebuild snapshots --yes  # although it stands"
)
_NAMES = {table.name: table for table in META_TABLES}
_UNREPEATABLE = {"runs", "alerts", "reports", "labels", "maintenance"}
"""Meta tables whose rows the lake cannot give again."""


@click.command("pipeline", epilog=_EXAMPLES)
@click.option(
    "--config", type=click.Path(dir_okay=False, path_type=Path), help="Settings file; default LIMNOGRAPH_CONFIG."
)
@click.option("--once", is_flag=True, help="Make passes until nothing is due, then end.")
@click.option("--retry-damaged", is_flag=True, help="Read rows again that are partial or unreadable, then end.")
@click.option("--reextract", metavar="TABLE", help="Read all rows of catalog.namespace.table again, then end.")
@click.option("--since", metavar="TIME", help="With --reextract: commits since 2026-11-20, 2026-11-20T03:05Z or 48h.")
@click.option("--rebuild", is_flag=True, help="Make meta tables again that were deleted by hand (or TABLES), then end.")
@click.option("--yes", is_flag=True, help="With --rebuild TABLES: drop them although they stand.")
@click.argument("tables", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="JSON lines only on stdout (they are always the last ones).")
@click.option("--verbose", is_flag=True, help="Stack traces and Spark's own errors on stderr instead of in a file.")
@click.option("--trigger", help="Time between two passes of the stream: 10s, 5m; default 60s.")
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
        raise InvalidInput("--once, --retry-damaged, --reextract, --rebuild", "are four things to do; choose one")
    if trigger is not None and (once or retry_damaged or reextract is not None or rebuild):
        raise InvalidInput("--trigger", "belongs to the stream, which has no end")
    named = _named(tables, rebuild=rebuild, yes=yes)
    if since is not None and reextract is None:
        raise InvalidInput("--since", "belongs to --reextract")
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
    """One line on stderr for what goes wrong inside; the stack traces stand in a file, which a last line names."""
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
        _log.debug("the pipeline ended", exc_info=error)
        _progress(f"limnograph: {error}")
        _point_at(file)
        raise SystemExit(2 if isinstance(error, InvalidInput) else 1) from error
    except FailpointReached:
        raise
    except Exception as error:
        _log.exception("the pipeline ended")
        _progress(f"limnograph: unexpected {cause(error)}")
        _point_at(file)
        raise SystemExit(1) from error


def _writable(file: Path) -> bool:
    """Whether a log can stand there; where it cannot, as in a container without a disk, stderr has everything."""
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
    """Meta tables to drop and make again. Raises InvalidInput."""
    if tables and not rebuild:
        raise InvalidInput("TABLES", f"{' '.join(tables)}: belong to --rebuild")
    if yes and not tables:
        raise InvalidInput("--yes", "belongs to --rebuild with names of tables")
    for name in tables:
        if name not in _NAMES:
            raise InvalidInput("--rebuild", f"{name!r} is no meta table; there are {', '.join(sorted(_NAMES))}")
    if tables and not yes:
        lost = [name for name in tables if name in _UNREPEATABLE]
        more = f"; rows of {', '.join(lost)} cannot be read again" if lost else ""
        raise InvalidInput("--rebuild", f"drops {', '.join(tables)} with all rows{more}. Say --yes when you mean it")
    return [_NAMES[name] for name in tables]


def _tell_rebuild(done: RebuildTotal, *, as_json: bool) -> NoReturn:
    """Print what a rebuild did and end; exit 1 when something could not be read now."""
    if not as_json:
        _progress(f"made again: {', '.join(done.rebuilt.tables) or 'nothing was lost'}")
        if done.rebuilt.emptied:
            _progress(f"empty, for nothing can give their rows again: {', '.join(done.rebuilt.emptied)}")
        if done.rebuilt.gaps:
            _progress(
                f"{done.rebuilt.forgotten} snapshots of {done.rebuilt.gaps} tables are forgotten by the lake: gaps"
            )
    click.echo(msgspec.json.encode(done.document()).decode())
    raise SystemExit(1 if done.total.failed else 0)


def _tell_repair(report: RepairReport, *, as_json: bool) -> NoReturn:
    """Print what a repair did and end; exit 1 when something could not be read now."""
    for sentence in report.failed:
        _progress(f"as it was: {sentence}")
    if not as_json:
        _progress(f"{report.snapshots_replaced} rows replaced in {report.seconds} s")
    click.echo(msgspec.json.encode(report.document()).decode())
    raise SystemExit(1 if report.failed else 0)


def instant(text: str) -> int:
    """Microseconds of an ISO date or time (UTC where it says no zone), or of a while before now."""
    if match := _AGO.fullmatch(text.strip()):
        seconds = int(match[1]) * {"m": 60, "h": 3_600, "d": 86_400}[match[2]]
        return SystemClock().now() - seconds * MICROS_PER_SECOND
    try:
        found = datetime.fromisoformat(text.strip())
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp() * MICROS_PER_SECOND)
    except (ValueError, OverflowError) as error:
        raise InvalidInput("--since", f"{text!r} is no time; write 2026-11-20, 2026-11-20T03:05Z or 48h") from error


def _seconds(trigger: str) -> int:
    match = _TRIGGER.fullmatch(trigger.strip())
    if not match or int(match[1]) == 0:
        raise InvalidInput("--trigger", f"{trigger!r} is not a time; write 60s or 5m")
    return int(match[1]) * (60 if match[2] == "m" else 1)


def _progress(line: str) -> None:
    click.echo(clean(line), err=True)
