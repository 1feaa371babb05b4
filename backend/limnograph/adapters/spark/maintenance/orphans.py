"""Files below a table's location that no snapshot reaches: listed, and removed by name.

Iceberg's action lists and deletes at once, follows symbolic links, and its listing on Hadoop spells schemes in its own
way (hazards H6 and H9). Here a listing deletes nothing; a removal lists again and deletes what was named and is still
unreferenced, still old enough and not reached through a symbolic link.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from limnograph.adapters.spark.maintenance.gate import DELETED, ActionGate
from limnograph.adapters.spark.maintenance.handle import java_table
from limnograph.adapters.spark.maintenance.jvm import IcebergJvm
from limnograph.adapters.spark.maintenance.reach import AUTHORITY, KEY, PATH, SCHEME, all_files
from limnograph.domain.errors import ActionConflict, InvalidInput, MetadataError, SourceRejected
from limnograph.domain.ids import normalise_location
from limnograph.ports.table_maintainer import ActionOutcome, ActionRequest, OpenedTable, UnreferencedFile

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOCAL = re.compile(r"(?:file:(?://(?=/))?)?(/.*)")
BATCH = 1000
MOST_CHARACTERS = 100_000


def unreferenced(jvm: IcebergJvm, opened: OpenedTable, table: Any, older_than_ms: int) -> list[UnreferencedFile]:
    """Files below the location that the state of a Java Table does not reach. Raises MetadataError: another table is
    below the location, or the location of a file is ambiguous.
    """
    files = _listing(jvm, opened.location, table)
    _refuse_nested(jvm, files, table, opened.location)
    root = len(opened.location.rstrip("/"))
    files = files.where(~files["location"].substr(root + 1, MOST_CHARACTERS).rlike(_hidden(table)))
    return free_files(files.where(f"modified_at_ms < {int(older_than_ms)}"), all_files(jvm, table))


def free_files(listed: DataFrame, reached: DataFrame) -> list[UnreferencedFile]:
    """Listed files that are not among those that are reached. Raises MetadataError: the same path is reached with
    another scheme or authority, so that it is unknown whether it is the same file (H9).
    """
    parts = f"{PATH} AS path", f"{SCHEME} AS scheme", f"{AUTHORITY} AS authority"
    mine = listed.selectExpr("location", "size", "modified_at_ms", *parts).alias("listed")
    theirs = reached.selectExpr(*parts).alias("reached")
    other = "(reached.scheme NOT IN ('', listed.scheme) OR reached.authority NOT IN ('', listed.authority))"
    joined = mine.join(theirs, "path", "left").selectExpr(
        "location", "size", "modified_at_ms", "reached.scheme IS NULL AS free", f"coalesce({other}, false) AS other"
    )
    found = joined.where("free OR other").collect()
    if conflict := next((row.location for row in found if row.other), None):
        raise MetadataError(
            "location_ambiguous", f"{conflict} is listed with another scheme or authority than the table references"
        )
    return sorted(UnreferencedFile(row.location, row.size, row.modified_at_ms) for row in found)


def _refuse_nested(jvm: IcebergJvm, files: DataFrame, table: Any, location: str) -> None:
    """Metadata of another table below the location (H7): its files would look like unreferenced ones of this table."""
    logged = jvm.iceberg.ReachableFileUtil.metadataFileLocations(table, False)
    own = {_single_slashes(each).rpartition("/")[0] for each in logged}
    metadata = files.where("location RLIKE '[.]metadata[.]json(|[.]gz)$|/(_delta_log|[.]hoodie)/'")
    folders = metadata.selectExpr(f"regexp_replace({KEY}, '/[^/]*$', '') AS folder").distinct().collect()
    root = _single_slashes(location)
    for folder in sorted(_single_slashes(row.folder) for row in folders):
        if folder not in {*own, f"{root}/metadata"}:
            raise MetadataError("location_shared", f"another table has its metadata at {folder}")


def _single_slashes(location: str) -> str:
    """A location as `KEY` spells its path."""
    return re.sub("(?<![:/])/+", "/", normalise_location(location))


def remove(jvm: IcebergJvm, opened: OpenedTable, request: ActionRequest, gate: ActionGate) -> ActionOutcome:
    """Delete the named files that neither the opened nor the present state reaches."""
    if request.older_than_ms is None:
        raise InvalidInput("older_than_ms", "must say how old a file has to be")
    before, present = java_table(opened), jvm.load(opened.name)
    if (str(present.uuid()), present.location()) != (opened.table_uuid, opened.location):
        raise ActionConflict(f"{opened.name.plain} is another table now, or has another location")
    for table in (before.table, present):
        if (table.properties().get("gc.enabled") or "true").lower() == "false":
            raise SourceRejected("table", "gc.enabled is false: its files may belong to other tables")
    free = _keys(unreferenced(jvm, opened, present, request.older_than_ms))
    if present.operations().current().metadataFileLocation() != opened.metadata_location:
        free = {key: free[key] for key in free.keys() & _keys(unreferenced(jvm, opened, before.table, _NEVER)).keys()}
    chosen = [free[key] for each in request.files if (key := normalise_location(each)) in free]
    left = [each for each in request.files if normalise_location(each) not in free]
    for start in range(0, len(chosen), BATCH):
        if gate.ask():
            gate.check()
        part = [each for each in chosen[start : start + BATCH] if _inside(opened.location, each)]
        left += jvm.delete(present.io(), part)
    gate.reach(DELETED)
    existing = {each for each in left if present.io().newInputFile(each).exists()}
    return ActionOutcome(deleted_files=len(request.files) - len(left), left_behind=sorted(existing))


_NEVER = 2**62


def _keys(files: Sequence[UnreferencedFile]) -> dict[str, str]:
    return {normalise_location(file.location): file.location for file in files}


def _listing(jvm: IcebergJvm, location: str, table: Any) -> DataFrame:
    """Every file below a location."""
    root = location.rstrip("/")
    path = local_path(root)
    return jvm.listing(table.io(), f"{root}/") if path is None else jvm.walk(path, root)


def _hidden(table: Any) -> str:
    """A path of which a part begins with `_` or `.`, which belongs to another program, unless it is the folder of a
    partition field so named.
    """
    fields = {field.name() for spec in table.specs().values() for field in spec.fields()}
    shown = "|".join(re.escape(f"{name}=") for name in sorted(fields) if name.startswith(("_", ".")))
    return f"/(?!{shown})[._]" if shown else "/[._]"


def local_path(location: str) -> Path | None:
    """The path of a location on the local disk; None: it is elsewhere."""
    found = _LOCAL.fullmatch(location)
    return Path(found[1]) if found and not location.startswith("//") else None


def _inside(location: str, file: str) -> bool:
    """Whether a local file is still below the location without a symbolic link between them."""
    root, path = local_path(location.rstrip("/")), local_path(file)
    if root is None or path is None:
        return True
    return path.parent.resolve() == root.resolve() / path.parent.relative_to(root)
