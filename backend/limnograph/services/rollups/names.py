"""Which table a name meant at an instant, from the changes `named`. Pure."""

from __future__ import annotations

import polars as pl

NAME = ["catalog", "namespace", "table"]
NAMED_COLUMNS = ("kind", "table_uuid", *NAME, "at", "observed_at")


def with_owner(rows: pl.DataFrame, named: pl.DataFrame) -> pl.DataFrame:
    """Rows with a name and an instant `at`, with `table_uuid`: the table that had taken the name last at that instant,
    else the first that is known to have taken it; null for an unknown name.
    """
    taken = named.drop_nulls("table_uuid").sort("at", "observed_at", "table_uuid")
    first = taken.group_by(NAME, maintain_order=True).agg(pl.col("table_uuid").first().alias("first"))
    taken = taken.select(*NAME, "at", "table_uuid").unique([*NAME, "at"], keep="last", maintain_order=True)
    found = rows.sort("at", maintain_order=True).join_asof(
        taken, on="at", by=NAME, strategy="backward", check_sortedness=False
    )
    found = found.join(first, on=NAME, how="left", maintain_order="left")
    return found.with_columns(pl.coalesce("table_uuid", "first").alias("table_uuid")).drop("first")
