"""The checks of `limnograph doctor` for observed tables: catalogs, folders, and patterns that match nothing."""

from __future__ import annotations

import difflib
import threading
from collections.abc import Iterator, Sequence
from functools import partial

from limnograph.adapters.iceberg.catalogs.catalog import observed_catalog
from limnograph.adapters.sandbox.tables import SandboxTables
from limnograph.domain.errors import LimnographError, SourceUnavailable
from limnograph.domain.ids import matches
from limnograph.ports.catalog import CatalogNames
from limnograph.services.server.doctor import Check, CheckResult
from limnograph.settings import FILES, PathSettings, Settings, WarehouseSettings
from limnograph.wiring.observe import ALL, ObservedNames, access_of, patterns_of, unmatched
from limnograph.wiring.paths import PathCatalog, path_name

_SHOWN = 5


class ListedNames:
    """The tables of each catalog, listed once for all checks."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._tables = SandboxTables(access_of(settings))
        self._locks = {name: threading.Lock() for name in (*settings.catalogs, FILES)}
        self._found: dict[str, CatalogNames | LimnographError] = {}

    def names(self, catalog: str) -> CatalogNames:
        """Tables of one catalog. If listing failed, every call raises that error."""
        with self._locks[catalog]:
            if catalog not in self._found:
                try:
                    self._found[catalog] = self._listed(catalog)
                except LimnographError as error:
                    self._found[catalog] = error
            found = self._found[catalog]
        if isinstance(found, LimnographError):
            raise found.with_traceback(None)
        return found

    def _listed(self, catalog: str) -> CatalogNames:
        if catalog == FILES:
            return PathCatalog(self._settings.observe, self._tables).names()
        return observed_catalog(catalog, self._settings.catalogs[catalog]).names()

    def newest(self, path: PathSettings) -> str:
        """Location of the newest metadata of a table without a catalog. Raises LimnographError."""
        return self._tables.newest(path.format, path.location)


def checks(settings: Settings, listed: ListedNames) -> Iterator[Check]:
    """One check for each warehouse and path, and one for all patterns."""
    for i, warehouse in enumerate(settings.observe.warehouses):
        remedy = f"correct observe.warehouses[{i}].location"
        yield Check(f"warehouse {warehouse.name}", partial(_warehouse, listed, warehouse, remedy), remedy)
    for i, path in enumerate(settings.observe.paths):
        remedy = f"correct observe.paths[{i}]: location or format"
        yield Check(f"table {path_name(path)}", partial(_path, listed, path), remedy)
    yield Check("observed tables", partial(_observed, settings, listed), "see the catalogs", required=False)


def catalog(settings: Settings, listed: ListedNames, name: str) -> CheckResult:
    """Count the tables of a catalog. A catalog that the pipeline creates for its meta tables may still be missing."""
    others = len(settings.catalogs) > 1 or settings.observe.paths or settings.observe.warehouses
    try:
        found = listed.names(name)
    except SourceUnavailable as error:
        if name == settings.meta_catalog and others and "; check catalogs." in error.detail:
            return CheckResult(
                error.detail, "run `limnograph pipeline --once`: it creates the catalog of the meta tables"
            )
        raise
    if found.troubles:
        raise SourceUnavailable(f"catalog {name}", f"{len(found.tables)} tables, but {found.troubles[0]}")
    return CheckResult(f"{len(found.tables)} tables")


def _warehouse(listed: ListedNames, warehouse: WarehouseSettings, remedy: str) -> CheckResult:
    found = listed.names(FILES)
    trouble = next((text for text in found.troubles if text.startswith(f"warehouse {warehouse.name}: ")), None)
    if trouble is not None:
        raise SourceUnavailable(f"warehouse {warehouse.name}", trouble.partition(": ")[2])
    inside = [name for name in found.tables if matches(f"{warehouse.name}.{ALL}", str(name))]
    if not inside:
        formats = " or ".join(kind.capitalize() for kind in warehouse.formats)
        return CheckResult(f"no {formats} table below {warehouse.location}", remedy)
    return CheckResult(f"{len(inside)} tables below {warehouse.location}")


def _path(listed: ListedNames, path: PathSettings) -> CheckResult:
    return CheckResult(f"{path.format}, latest metadata {listed.newest(path)}")


def _observed(settings: Settings, listed: ListedNames) -> CheckResult:
    """Count the observed tables, and find patterns that match no listed table."""
    names: list[str] = []
    silent: list[str] = []
    observes, count = ObservedNames(settings), 0
    for each in (*settings.catalogs, *([FILES] if settings.observe.paths or settings.observe.warehouses else [])):
        try:
            found = listed.names(each)
        except LimnographError:
            silent.append(each)
            continue
        silent += [each] if found.troubles else []
        names += [str(name) for name in found.tables]
        count += sum(observes.about(name)[1] for name in found.tables)
    detail = f"{count} of {len(names)} listed tables"
    if silent:
        return CheckResult(f"{detail}; {', '.join(silent)} did not list all tables, so patterns cannot be checked")
    barren = unmatched(_patterns(settings), names)
    if not barren:
        return CheckResult(detail, None if count else "set observe.include to patterns such as lake.sales.**")
    more = f" and {len(barren) - _SHOWN} more" if len(barren) > _SHOWN else ""
    return CheckResult(f"{detail}; no table matches {', '.join(barren[:_SHOWN])}{more}", _meant(barren, names))


def _patterns(settings: Settings) -> Iterator[tuple[str, str]]:
    """Every pattern of the settings, after its key."""
    yield from patterns_of("observe.include", settings.observe.include)
    yield from patterns_of("observe.exclude", settings.observe.exclude)
    for i, objective in enumerate(settings.objectives):
        if objective.tables != ALL:
            yield f"objectives[{i}].tables", objective.tables
    for i, owner in enumerate(settings.owners):
        if owner.tables != ALL:
            yield f"owners[{i}].tables", owner.tables
    for i, job in enumerate(settings.jobs):
        yield from ((f"jobs[{i}].reads[{k}]", pattern) for k, pattern in enumerate(job.reads))
        yield from ((f"jobs[{i}].writes[{k}]", pattern) for k, pattern in enumerate(job.writes))


def _meant(barren: Sequence[str], names: Sequence[str]) -> str:
    """The remedy for patterns without a match: the most similar prefixes of existing tables."""
    begins = sorted({".".join(name.removeprefix(f"{FILES}.").split(".")[:2]) for name in names})
    patterns = [text.partition(" ")[2].strip("'") for text in barren[:_SHOWN]]
    near = {found for pattern in patterns for found in difflib.get_close_matches(pattern.rstrip(".*"), begins, n=1)}
    shown = sorted(near) or begins[:_SHOWN]
    return (
        f"correct the pattern; tables are named {', '.join(f'{begin}.…' for begin in shown)}"
        if shown
        else "the catalogs list no tables"
    )
