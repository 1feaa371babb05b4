"""Runs what Limnograph recommends, as a person would paste it, and measures a table's metadata before and after."""

from __future__ import annotations

from typing import Any

from lakehouse.parts.lake import Lake


def run_recommended(lake: Lake, recommended: dict[str, Any]) -> None:
    """Run a recommendation's statements for Spark."""
    for statement in recommended["statements"]["spark"].split(";"):
        if statement.strip():
            lake.sql(statement.strip())


def metadata_figures(lake: Lake, table: str) -> dict[str, int]:
    """Data files, delete files, snapshots and manifests, as Spark counts them."""
    return {
        "data_files": lake.one(f"select count(*) from {table}.data_files"),
        "delete_files": lake.one(f"select count(*) from {table}.delete_files"),
        "snapshots": lake.one(f"select count(*) from {table}.snapshots"),
        "manifests": lake.one(f"select count(*) from {table}.manifests"),
    }
