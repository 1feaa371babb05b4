"""Progress of streaming queries as Spark keeps it: which snapshot each batch read up to, also after the query ended."""

from __future__ import annotations

from typing import Any

import pytest

from limnograph.spark_batches import BatchId, StreamBatches, batch_of, end_of

RUN = "0a6f6f0e-5e0c-4a6b-9b0b-0d5f7d1c2e3f"
ICEBERG = '{"version":1,"snapshot_id":%d,"position":4,"scan_all_files":false}'


class Obj:
    """A Java object, by the results of its methods."""

    def __init__(self, **given: Any) -> None:
        for name, value in given.items():
            setattr(self, name, lambda value=value: value() if callable(value) else value)


class Spark:
    """A session with one query."""

    def __init__(self) -> None:
        self.active, self.progress = True, [progress(0, 5)]
        run_id = Obj(toString=RUN)
        query = Obj(runId=run_id, isActive=lambda: self.active, recentProgress=lambda: self.progress)
        self._jsparkSession = Obj(streams=Obj(active=lambda: [query] if self.active else []))


def progress(batch: int, *snapshots: int) -> Obj:
    return Obj(batchId=batch, sources=[Obj(endOffset=ICEBERG % each) for each in snapshots])


def test_each_batch_has_the_end_of_what_it_read() -> None:
    spark = Spark()
    batches = StreamBatches(spark)
    assert not batches.is_awaited(BatchId(RUN, 0))
    batches.look()
    assert batches.snapshot(BatchId(RUN, 0)) == 5
    assert batches.is_awaited(BatchId(RUN, 1))
    spark.progress = [*spark.progress, progress(1, 6), progress(2, 7)]
    batches.look()
    assert [batches.snapshot(BatchId(RUN, number)) for number in range(3)] == [5, 6, 7]


def test_a_query_that_ended_is_read_a_last_time_and_awaited_no_more() -> None:
    spark = Spark()
    batches = StreamBatches(spark)
    batches.look()
    spark.active, spark.progress = False, [*spark.progress, progress(1, 6)]
    batches.look()
    assert batches.snapshot(BatchId(RUN, 1)) == 6
    assert not batches.is_awaited(BatchId(RUN, 2))


@pytest.mark.parametrize(
    ("offsets", "snapshot"),
    [
        ([ICEBERG % 5], 5),
        ([ICEBERG % 5, '{"topic":{"0":12}}'], 5),
        ([ICEBERG % 5, ICEBERG % 6], None),
        (['{"snapshot_id":5}'], None),
        ([ICEBERG % -1], None),
        ([None, "12", "x", "[1]"], None),
        ([], None),
    ],
)
def test_only_the_offset_of_one_iceberg_table_counts(offsets: list[str | None], snapshot: int | None) -> None:
    assert end_of(offsets) == snapshot


def test_the_description_of_an_execution_names_its_batch() -> None:
    text = f"orders<br/>id = 11111111-5e0c-4a6b-9b0b-0d5f7d1c2e3f<br/>runId = {RUN}<br/>batch = 12"
    assert batch_of(text) == BatchId(RUN, 12)
    assert batch_of("select batch = 3") is batch_of("") is None
