"""What a watch knows of its catalog besides tables: how requests ended, and which namespaces have most tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from limnograph.domain.errors import SourceRejected, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.services.watcher.catalog_state import FULLEST, CatalogSnapshot
from limnograph.services.watcher.catalog_watch import CatalogWatch
from limnograph.services.watcher.request_log import KEPT_S, RequestLog, RequestNumbers


class Near:
    """A catalog with `count` tables in each of some namespaces; probes of table `t0` raise `error`."""

    name, at_once = "near", False

    def __init__(self, counts: dict[str, int], error: Exception | None = None) -> None:
        self.counts, self.error = counts, error

    def open(self) -> Any:
        return self

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        del alive
        found = [TableName("near", space, f"t{i}") for space, count in self.counts.items() for i in range(count)]
        return CatalogNames(dict.fromkeys(found))

    def probe(self, table: TableName) -> ProbeResult:
        if self.error is not None and table.table == "t0":
            raise self.error
        return ProbeResult(TablePointer(table, "iceberg", "s3://lake/1.json"), 3600.0)


def known(catalog: Near, wanted: Callable[[TableName], bool] = lambda _name: True) -> CatalogSnapshot:
    watch = CatalogWatch("near", catalog.open, wanted, WatchMode.ONCE)
    watch.request()
    found = watch.snapshot()
    watch.close()
    return found


def test_probes_are_counted_and_those_without_an_answer_are_failures() -> None:
    fine = known(Near({"sales": 5})).requests
    assert (fine.requests, fine.failed) == (5, 0)
    assert fine.p95_s is not None
    down = known(Near({"sales": 5}, SourceUnavailable("near", "no route to host"))).requests
    assert (down.requests, down.failed) == (5, 1)


def test_a_table_that_is_rejected_is_no_failure_of_the_catalog() -> None:
    found = known(Near({"sales": 5}, SourceRejected("near.sales.t0", "its metadata is damaged"))).requests
    assert (found.requests, found.failed) == (4, 0)


def test_the_fullest_namespaces_count_tables_that_are_not_observed() -> None:
    counts = {f"n{number}": number + 1 for number in range(FULLEST + 5)}
    found = known(Near(counts), lambda name: name.namespace == "n0")
    assert len(found.pointers) == 1
    assert found.fullest == {name: count for name, count in counts.items() if count > 5}


@pytest.mark.parametrize(("took", "expected"), [([0.1] * 94 + [9.0] * 6, 9.0), ([0.1] * 95 + [9.0] * 5, 0.1)])
def test_the_95th_percentile_is_that_of_answered_requests(took: list[float], expected: float) -> None:
    log = RequestLog()
    for each in took:
        log.note(10.0, each)
    log.note(10.0, None)
    assert log.numbers(11.0) == RequestNumbers(101, 1, expected)


def test_requests_of_more_than_a_quarter_of_an_hour_ago_are_forgotten() -> None:
    log = RequestLog()
    log.note(0.0, 5.0)
    log.note(1.0, None)
    assert log.numbers(KEPT_S + 0.5) == RequestNumbers(1, 1, None)
    assert log.numbers(KEPT_S + 2) == RequestNumbers()
