"""Detects whether a missing meta table never existed or was lost. Creates and repairs nothing.

Tables are created in a fixed order, and each stores the names of those before it, so an interrupted creation can be
distinguished from a deletion. Tables of older versions store no names: rows in any of them prove that `snapshots` and
`changes` existed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from limnograph.domain.errors import SourceRejected
from limnograph.domain.facts.meta_tables import CHANGES, META_TABLES, SNAPSHOTS, MetaTable

SIBLINGS_PROPERTY = "limnograph.siblings"
"""Names of the meta tables that existed when this one was created."""
CREATED_IN_ORDER = (*(table for table in META_TABLES if table is not SNAPSHOTS), SNAPSHOTS)
"""`snapshots` last: no other table lists it, and if it has rows, `changes` has rows too."""
REBUILDING = "limnograph.rebuilding"
"""Property of a table that a rebuild created but did not fill from the other tables yet: still lost."""
FIRST = {SNAPSHOTS.name, CHANGES.name}
"""Tables that exist in every version, and that are created before any table gets rows."""
REMEDY = "`limnograph pipeline --rebuild` rebuilds it from what the lake still contains"


def siblings_of(table: MetaTable) -> dict[str, str]:
    """The sibling property of a new table."""
    names = [other.name for other in CREATED_IN_ORDER]
    return {SIBLINGS_PROPERTY: ",".join(names[: names.index(table.name)])}


def load_meta_table(catalog: Catalog, namespace: str, name: str) -> Table:
    """Load a table. Raises NoSuchTableError; SourceRejected if the catalog points at a metadata file that is gone."""
    try:
        return catalog.load_table((namespace, name))
    except FileNotFoundError as error:
        raise SourceRejected(
            "meta store",
            f"the catalog points {namespace}.{name} to a missing metadata file; restore it, or {REMEDY}",
        ) from error


def standing_tables(catalog: Catalog, namespace: str) -> dict[str, Table]:
    """Existing meta tables by name. Raises SourceRejected."""
    found: dict[str, Table] = {}
    for table in META_TABLES:
        try:
            found[table.name] = load_meta_table(catalog, namespace, table.name)
        except NoSuchTableError:
            continue
    return found


def lost_tables(standing: Mapping[str, Table]) -> list[str]:
    """Names of tables that existed together with the existing ones, and no longer do."""
    listed = {name for table in standing.values() for name in table.properties.get(SIBLINGS_PROPERTY, "").split(",")}
    if any(table.current_snapshot() for table in standing.values()):
        listed |= FIRST
    gone = {name for name in listed if name and name not in standing}
    half_made = {name for name, table in standing.items() if REBUILDING in table.properties}
    return [table.name for table in CREATED_IN_ORDER if table.name in gone | half_made]


def lost_now(catalog: Catalog, namespace: str) -> list[str]:
    """Names of lost tables, including those whose metadata file is gone."""
    standing: dict[str, Table] = {}
    torn: list[str] = []
    for table in META_TABLES:
        try:
            standing[table.name] = load_meta_table(catalog, namespace, table.name)
        except NoSuchTableError:
            continue
        except SourceRejected:
            torn.append(table.name)
    gone = [table.name for table in META_TABLES if torn and table.name not in standing]
    return sorted({*torn, *gone, *lost_tables(standing)})


def lost_error(namespace: str, lost: Collection[str], standing: Collection[str]) -> SourceRejected:
    """The error message for an operator."""
    gone = ", ".join(f"{namespace}.{name}" for name in lost)
    if all(name in standing for name in lost):
        return SourceRejected("meta store", f"the rebuild of {gone} did not finish; nothing was written. {REMEDY}")
    others = ", ".join(sorted(set(standing) - set(lost)))
    return SourceRejected("meta store", f"{gone} is missing while {others} exist; nothing was written. {REMEDY}")
