"""Which files the states of a table reach, and how their locations are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from limnograph.adapters.spark.maintenance.jvm import IcebergJvm

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

CONTENT, MANIFEST, LIST, METADATA = range(4)
"""Kinds of files in the order in which they are deleted: what a file names is deleted before the file, so that an
interrupted deletion can be computed again.
"""
_SCHEMED = "regexp_replace(regexp_replace(location, '^(file:)?/+', 'file:/'), '^s3[an]:', 's3:')"
KEY = f"regexp_replace({_SCHEMED}, '(?<![:/])/+', '/')"
"""One spelling of a location: `/x`, `file:/x` and `file:///x` are the same file, as are s3, s3a and s3n. So are `a//b`
and `a/b`: Hadoop writes the second for the first. On an object store they differ, and one of them is then kept.
"""
SCHEME = f"lower(regexp_extract({KEY}, '^([A-Za-z][A-Za-z0-9+.-]*):', 1))"
AUTHORITY = f"regexp_extract({KEY}, '^[A-Za-z][A-Za-z0-9+.-]*://([^/]*)', 1)"
PATH = f"regexp_replace({KEY}, '^[A-Za-z][A-Za-z0-9+.-]*:(//[^/]*)?', '')"


def snapshot_files(jvm: IcebergJvm, table: Any) -> DataFrame:
    """Columns `location` and `kind`: what the snapshots of a state reach. A file may occur more than once."""
    util = jvm.iceberg.ReachableFileUtil
    content = jvm.metadata_table(table, "ALL_FILES").selectExpr("file_path AS location", f"{CONTENT} AS kind")
    manifests = jvm.metadata_table(table, "ALL_MANIFESTS").selectExpr("path AS location", f"{MANIFEST} AS kind")
    lists = [*util.manifestListLocations(table), *util.statisticsFilesLocations(table)]
    return content.union(manifests).union(jvm.named(lists, LIST))


def all_files(jvm: IcebergJvm, table: Any) -> DataFrame:
    """The same, with metadata files and the version hint."""
    util = jvm.iceberg.ReachableFileUtil
    others = [*util.metadataFileLocations(table, False), util.versionHintLocation(table)]
    return snapshot_files(jvm, table).union(jvm.named(others, METADATA))


def unreached(files: DataFrame, reached: DataFrame) -> list[str]:
    """Files that are not among others, each once, in the order in which they may be deleted."""
    mine = files.selectExpr("location", "kind", f"{KEY} AS key").dropDuplicates(["key"])
    theirs = reached.selectExpr(f"{KEY} AS key")
    found = mine.join(theirs, "key", "left_anti").select("kind", "location").collect()
    return [row.location for row in sorted(found)]
