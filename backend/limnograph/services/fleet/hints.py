"""Set-up steps that are still missing, with the text to copy. A page shows one hint instead of empty lanes."""

from __future__ import annotations

from collections.abc import Collection

from limnograph.domain.answers.tables import Hint
from limnograph.domain.ids import TableName
from limnograph.domain.watch import Sighted

NO_PIPELINE = Hint(
    code="no_pipeline",
    title="No pipeline has run yet",
    detail="The server reads recent history into memory and loses it on restart. The pipeline stores history in "
    "Iceberg tables.",
    snippet="limnograph pipeline --config limnograph.toml",
)
NO_PROMETHEUS = Hint(
    code="no_prometheus",
    title="No Prometheus is configured",
    detail="Job durations come from Prometheus. Add it to the settings file and restart the server.",
    snippet='[prometheus.main]\nurl = "http://127.0.0.1:9090"',
)
DOCTOR = "limnograph doctor --config limnograph.toml"
_NAMED = 5
"""Most settings that a hint names."""
UNWATCHED = Hint(
    code="no_tables",
    title="No tables are known yet",
    detail="This server does not watch the catalogs (--no-watch), and the meta tables are empty.",
    snippet="limnograph pipeline --once --config limnograph.toml",
)
LISTING = Hint(
    code="tables_unread",
    title="The catalogs are being listed",
    detail="No table has been read yet. This page updates automatically.",
)
NO_TABLES = Hint(
    code="no_tables",
    title="The catalogs list no tables",
    detail="All catalogs responded, but none lists a table. An SQL catalog lists only tables that were created under "
    "its own name, so NAME in [catalogs.NAME] must be that name.",
    snippet=DOCTOR,
)


def about_tables(known: int, seen: Sighted | None, catalogs: Collection[str], error: str | None) -> Hint | None:
    """Why no more than `known` tables are shown. None: all tables that the catalogs list and the settings include are.

    `seen`: tables seen by the watcher; None without a watcher
    `error`: of the meta tables, if they cannot be read
    """
    if seen is None:
        return None if known else _down(error) if error else UNWATCHED
    if known:
        return _reading(known, seen) if known < seen.observed and not seen.whole else None
    if seen.observed:
        return _unreadable(seen) if seen.whole and seen.troubles else _reading(known, seen)
    if seen.troubles or error:
        return _down(next(iter(seen.troubles), error or ""))
    if not seen.whole or set(catalogs) - set(seen.read):
        return LISTING
    return _no_match(seen) if seen.listed else NO_TABLES


def about_patterns(seen: Sighted | None) -> Hint | None:
    """Names the patterns and warehouses of [observe] that match no table, unless nothing matches at all."""
    if seen is None or not seen.unmatched or not seen.observed:
        return None
    more = f" and {len(seen.unmatched) - _NAMED} more" if len(seen.unmatched) > _NAMED else ""
    return Hint(
        code="unmatched",
        title="Some settings match no table",
        detail=f"No listed table matches {', '.join(seen.unmatched[:_NAMED])}{more}. limnograph doctor suggests a "
        "correction.",
        snippet=DOCTOR,
    )


def _reading(known: int, seen: Sighted) -> Hint:
    what = "none of them has" if not known else f"{known} of them {'has' if known == 1 else 'have'}"
    return Hint(
        code="tables_unread",
        title=f"{_tables(seen.observed)} observed, {what} been read yet",
        detail=f"The catalogs list {_counted(seen.listed)}. The first read takes seconds to minutes; this page updates "
        "automatically.",
    )


def _unreadable(seen: Sighted) -> Hint:
    return Hint(
        code="tables_unread",
        title=f"{_tables(seen.observed)} observed, but none could be read",
        detail=f"Retrying automatically. First problem: {seen.troubles[0]}",
        snippet=DOCTOR,
    )


def _down(said: str) -> Hint:
    return Hint(
        code="catalog_down",
        title="The catalogs cannot be listed",
        detail=f"{said}. Retrying automatically.",
        snippet=DOCTOR,
    )


def _no_match(seen: Sighted) -> Hint:
    return Hint(
        code="no_match",
        title="No listed table matches [observe]",
        detail=f"The catalogs list {_counted(seen.listed)}, but the patterns of [observe] include none of them. "
        "Patterns match catalog.namespace.table.",
        snippet='[observe]\ninclude = ["**"]',
    )


def _tables(count: int) -> str:
    return f"{_counted(count)} {'is' if count == 1 else 'are'}"


def _counted(count: int) -> str:
    return f"{count:,} table{'' if count == 1 else 's'}"


def no_jobs(name: TableName) -> Hint:
    """The hint that no job is linked to the table."""
    return Hint(
        code="no_jobs",
        title="No job is linked to this table",
        detail="Instrument a PySpark job with limnograph.spark_metrics, or add a job to the settings file.",
        snippet=f'[[jobs]]\nname = "my_job"\nreads = ["{_toml(str(name))}"]',
    )


def _toml(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
