"""Cases of group deletes, and of deletes that never reach the data files."""

from __future__ import annotations

import random

from findings_cases.cases import fault, look_alike
from findings_cases.lake import GeneratedTable
from findings_cases.scene import DAY, HOUR, Scene
from metadata_records import EQUALITY_DELETES, POSITION_DELETES

DANGLING = "https://github.com/apache/iceberg/issues/16138"
UPSERTS = "https://github.com/apache/iceberg/issues/9363"
ERASURE = "https://www.dremio.com/blog/apache-iceberg-and-the-right-to-be-forgotten/"
COMPLIANCE = "https://docs.ryft.io/lakehouse-management/table-management/compliance-cleanup"
TWO_MODES = "https://github.com/apache/iceberg/pull/3432"


@fault("delete_files_growing", DANGLING)
def delete_files_that_no_one_merges(rng: random.Random) -> bool:
    scene, data, added = Scene(rng), rng.randint(50, 2_000), rng.randint(6, 60)
    step = max(added, data // 50)
    for day in range(rng.randint(10, 20)):
        scene.commit(DAY, total_data_files=data, total_delete_files=step * day, added_delete_files=step)
    return scene.opens("delete_files_growing")


@look_alike("delete_files_growing", UPSERTS)
def delete_files_merged_each_day(rng: random.Random) -> bool:
    scene, data = Scene(rng), rng.randint(50, 2_000)
    for _ in range(rng.randint(9, 15)):
        scene.commit(12 * HOUR, total_data_files=data, total_delete_files=data // 2, added_delete_files=data // 2)
        scene.commit(12 * HOUR, "replace", total_data_files=data, total_delete_files=0, removed_delete_files=data // 2)
    return scene.opens("delete_files_growing")


@look_alike("delete_files_growing", TWO_MODES)
def few_deletes_of_a_large_table(rng: random.Random) -> bool:
    scene, data = Scene(rng), rng.randint(5_000, 50_000)
    for day in range(rng.randint(10, 20)):
        scene.commit(DAY, total_data_files=data, total_delete_files=10 * day, added_delete_files=10)
    return scene.opens("delete_files_growing")


@look_alike("delete_files_growing", "https://github.com/apache/iceberg/issues/7540")
def old_delete_files_that_no_longer_grow(rng: random.Random) -> bool:
    scene, data = Scene(rng), rng.randint(50, 500)
    kept = rng.randint(data // 5, data)
    for _ in range(rng.randint(10, 20)):
        scene.commit(DAY, total_data_files=data, total_delete_files=kept, added_data_files=1)
    return scene.opens("delete_files_growing")


@fault("equality_deletes", UPSERTS)
def upserts_of_a_stream(rng: random.Random) -> bool:
    table = GeneratedTable(rng, version=rng.choice((2, 3)))
    table.table.append(*(table.file("eu") for _ in range(rng.randint(2, 20))))
    for _ in range(rng.randint(2, 6)):
        deletes = table.file("eu", share=0.01, rows=rng.randint(1, 500), content=EQUALITY_DELETES)
        table.later(rng.uniform(0.1, 2)).table.overwrite([table.file("eu", share=0.1), deletes], [])
    return table.opens("equality_deletes")


@look_alike("equality_deletes", TWO_MODES)
def position_deletes_of_a_batch_job(rng: random.Random) -> bool:
    table = GeneratedTable(rng)
    table.table.append(*(table.file("eu") for _ in range(rng.randint(2, 20))))
    for _ in range(rng.randint(2, 6)):
        deletes = table.file("eu", share=0.01, rows=rng.randint(1, 500), content=POSITION_DELETES)
        table.later(rng.uniform(0.1, 2)).table.overwrite([deletes], [])
    return table.opens("equality_deletes")


@look_alike("equality_deletes", "https://github.com/apache/iceberg/pull/16171")
def equality_deletes_that_were_applied(rng: random.Random) -> bool:
    table = GeneratedTable(rng)
    table.table.append(*(table.file("eu") for _ in range(rng.randint(2, 20))))
    deletes = [table.file("eu", share=0.01, content=EQUALITY_DELETES) for _ in range(rng.randint(1, 8))]
    table.later(1).table.overwrite(deletes, [])
    table.later(rng.uniform(1, 5)).table.commit(
        "replace", add=[table.file("eu")], remove=[*table.table.files(), *deletes]
    )
    table.later(1).table.append(table.file("eu"))
    return table.opens("equality_deletes", 2)


@look_alike("equality_deletes", "https://github.com/memiiso/debezium-server-iceberg/pull/720")
def deletion_vectors(rng: random.Random) -> bool:
    table = GeneratedTable(rng, version=3)
    files = [table.file("eu") for _ in range(rng.randint(2, 20))]
    table.table.append(*files)
    for file in rng.sample(files, 2):
        table.later(1).table.overwrite([table.table.vector(file, rng.randint(1, 900))], [])
    return table.opens("equality_deletes")


def _deleted(rng: random.Random, share: float, **properties: str) -> GeneratedTable:
    """A table in which a share of the rows is deleted by delete files, and that is written each day from then on."""
    table = GeneratedTable(rng, version=2, **properties)
    files = [table.file("eu", rows=10_000) for _ in range(rng.randint(5, 30))]
    table.table.append(*files)
    table.observe()
    rows = max(1, round(share * 10_000 * len(files)))
    table.later(3).table.overwrite([table.file("eu", share=0.01, rows=rows, content=POSITION_DELETES)], [])
    return table


def _written_daily(table: GeneratedTable, days: int) -> GeneratedTable:
    for _ in range(days):
        table.later(24).table.append(table.file("eu", share=0.5, rows=10))
    return table


@fault("deletes_not_materialized", ERASURE)
def deletes_older_than_a_month(rng: random.Random) -> bool:
    return _written_daily(_deleted(rng, rng.uniform(0.0001, 0.05)), rng.randint(31, 45)).opens(
        "deletes_not_materialized"
    )


@fault("deletes_not_materialized", UPSERTS)
def a_tenth_of_the_rows_for_days(rng: random.Random) -> bool:
    return _written_daily(_deleted(rng, rng.uniform(0.12, 0.6)), rng.randint(4, 20)).opens("deletes_not_materialized")


@fault("deletes_not_materialized", COMPLIANCE)
def an_erasure_that_snapshots_still_hold(rng: random.Random) -> bool:
    """The files were rewritten in time for the query engines, not for the promise: old snapshots still reach them."""
    promise = rng.randint(2, 10)
    table = _written_daily(_deleted(rng, 0.01, **{"limnograph.erasure-days": str(promise)}), promise + 2)
    gone = [*table.table.files(), *table.table.files(content=POSITION_DELETES)]
    table.later(1).table.commit("replace", add=[table.file("eu")], remove=gone)
    return _written_daily(table, 2).opens("deletes_not_materialized")


@look_alike("deletes_not_materialized", COMPLIANCE)
def deletes_merged_within_a_month(rng: random.Random) -> bool:
    table = _written_daily(_deleted(rng, rng.uniform(0.0001, 0.05)), rng.randint(3, 25))
    gone = [*table.table.files(), *table.table.files(content=POSITION_DELETES)]
    table.later(1).table.commit("replace", add=[table.file("eu")], remove=gone)
    return _written_daily(table, rng.randint(8, 30)).opens("deletes_not_materialized")


@look_alike("deletes_not_materialized", TWO_MODES)
def few_deletes_for_some_days(rng: random.Random) -> bool:
    return _written_daily(_deleted(rng, rng.uniform(0.001, 0.07)), rng.randint(4, 25)).opens("deletes_not_materialized")


@look_alike("deletes_not_materialized", UPSERTS)
def many_deletes_since_yesterday(rng: random.Random) -> bool:
    return _written_daily(_deleted(rng, rng.uniform(0.12, 0.6)), rng.randint(1, 2)).opens("deletes_not_materialized")


@look_alike("deletes_not_materialized", ERASURE)
def an_erasure_that_is_complete(rng: random.Random) -> bool:
    promise = rng.randint(2, 10)
    table = _written_daily(_deleted(rng, 0.01, **{"limnograph.erasure-days": str(promise)}), promise + 2)
    gone = [*table.table.files(), *table.table.files(content=POSITION_DELETES)]
    table.later(1).table.commit("replace", add=[table.file("eu")], remove=gone)
    head = table.table.head()
    table.later(24).observe()
    table.table.expire(*(each for each in list(table.table.snapshots) if each != head))
    return _written_daily(table, 2).opens("deletes_not_materialized")
