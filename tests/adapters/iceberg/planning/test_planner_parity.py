"""What the survey predicts of each rewrite equals what Iceberg's own planners choose, on random tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from planner_parity import both

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = 300


def test_predicted_groups_files_bytes_and_outputs_equal_those_of_icebergs_planners(
    spark: SparkSession, tmp_path: Path
) -> None:
    chosen = Counter[str]()
    for seed in range(TABLES):
        ours, expected = both(spark, tmp_path / str(seed), seed)
        assert ours == expected, seed
        chosen.update({kind: groups.total() for kind, groups in expected.items()})
    assert min(chosen.values()) > 50, chosen
