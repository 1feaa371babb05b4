"""Appends through real Spark, told to a real exporter: by result, in rows, and with the lag of the newest commit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from lakes import Lake
from limnograph.adapters.meta.schema import arrow_table
from limnograph.adapters.prometheus.exporter import Exporter
from limnograph.domain.errors import Conflict
from limnograph.domain.facts.meta_tables import SNAPSHOTS, SnapshotFact
from limnograph.domain.metrics.pipeline import PIPELINE_METRICS
from limnograph.wiring import pipeline

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_appends_are_exposed_by_result_and_with_the_lag_of_the_newest_commit(
    spark: SparkSession, shared_lake: Lake
) -> None:
    found = Exporter(PIPELINE_METRICS)
    store = pipeline.meta_store(shared_lake.settings(meta={"namespace": f"meta_{uuid4().hex[:8]}"}), spark, found)
    store.ensure()
    now = time.time_ns() // 1000
    facts = [SnapshotFact(table_uuid="u", snapshot_id=n, committed_at=now - n * 60_000_000) for n in (2, 3)]
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts), None, "run")
    first = store.head(SNAPSHOTS)
    store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts[1:]), first, "run")
    with pytest.raises(Conflict):
        store.append(SNAPSHOTS, arrow_table(SNAPSHOTS, facts), first, "run")

    def value(name: str, **labels: str) -> float:
        sample = found.registry.get_sample_value(f"limnograph_pipeline_{name}", labels)
        assert sample is not None
        return sample

    assert value("appends_total", table="snapshots", result="ok") == 2
    assert value("appends_total", table="snapshots", result="conflict") == 1
    assert value("rows_appended_total", table="snapshots") == 3
    assert value("newest_commit_timestamp_seconds") == pytest.approx(now / 1e6 - 120)  # not the older one of the last
    assert 180 <= value("extraction_lag_seconds") < 180 + 600
