"""A training set: for each label the newest features from before it, all read from one snapshot."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from lakehouse.gold.features import USER_FEATURES
from lakehouse.parts.lake import Lake

if TYPE_CHECKING:
    import polars as pl


class FeatureLeaks(NamedTuple):
    """`leaked`: rows with features from after their label. `misled`: rows for which the newest features differ from
    those that were known, so that "the latest" would have lied.
    """

    rows: int
    leaked: int
    misled: int


def features_at(lake: Lake, snapshot_id: int) -> pl.DataFrame:
    """The features as a snapshot has them: later commits change nothing."""
    import polars as pl

    table = lake.catalog.load_table(USER_FEATURES.name.removeprefix("lake."))
    return pl.DataFrame(table.scan(snapshot_id=snapshot_id).to_arrow()).sort("computed_at")


def join_as_of(labels: pl.DataFrame, features: pl.DataFrame) -> pl.DataFrame:
    """Labels (`user_hash`, `at`) with the newest features from before each."""
    return labels.sort("at").join_asof(
        features,
        left_on="at",
        right_on="computed_at",
        by="user_hash",
        strategy="backward",
        allow_exact_matches=False,
        check_sortedness=False,
    )


def leaks(labels: pl.DataFrame, features: pl.DataFrame) -> FeatureLeaks:
    """How the join compares with the newest features of each user."""
    import polars as pl

    joined = join_as_of(labels, features)
    newest = features.group_by("user_hash").agg(pl.col("clicks").last().alias("newest_clicks"))
    both = joined.join(newest, on="user_hash")
    return FeatureLeaks(
        rows=joined.height,
        leaked=joined.filter(pl.col("computed_at") >= pl.col("at")).height,
        misled=both.filter(pl.col("clicks").is_null() | (pl.col("clicks") != pl.col("newest_clicks"))).height,
    )


def label_instants(users: list[str], instants: list[datetime]) -> pl.DataFrame:
    """A label for each user at each instant."""
    import polars as pl

    rows = [(user, instant) for instant in instants for user in users]
    schema = {"user_hash": pl.String, "at": pl.Datetime("us", "UTC")}
    return pl.DataFrame(rows, schema=schema, orient="row")
