"""Threads of one catalog: who asks waits no longer than the deadline, and a hanging client is left behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.ports.catalog import CatalogNames, ProbeResult, TablePointer
from limnograph.services.watcher import catalog_watch
from limnograph.services.watcher.catalog_actions import WatchMode
from limnograph.services.watcher.catalog_state import DOUBT_S, CatalogSnapshot
from limnograph.services.watcher.catalog_watch import CatalogWatch


def name(number: int) -> TableName:
    return TableName("far", "sales", f"t{number}")


class Far:
    """A catalog of `count` tables. `held`: calls wait here while it is not set."""

    name = "far"
    at_once = False

    def __init__(self, count: int = 3) -> None:
        self.count, self.version = count, 0
        self.probes: list[TableName] = []
        self.held = threading.Event()
        self.held.set()
        self.error: Exception | None = None
        self.opened = 0

    def open(self) -> Far:
        self.opened += 1
        return self

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        self._wait()
        return CatalogNames(dict.fromkeys(map(name, range(self.count))))

    def probe(self, table: TableName) -> ProbeResult:
        self._wait()
        self.probes.append(table)
        return ProbeResult(TablePointer(table, "iceberg", f"s3://lake/{table.table}/{self.version}.json"), 3600.0)

    def _wait(self) -> None:
        held = self.held
        held.wait(30)
        if self.error:
            raise self.error


@pytest.fixture
def far() -> Iterator[Far]:
    made = Far()
    yield made
    made.held.set()


def asked(watch: CatalogWatch) -> CatalogSnapshot:
    watch.request()
    return watch.snapshot()


def every(_table: TableName) -> bool:
    return True


class Slow(Far):
    """Lists a page in a time that is within the deadline, and all of them in one that is not."""

    def names(self, alive: Callable[[], None] = lambda: None) -> CatalogNames:
        for _ in range(6):
            time.sleep(0.3)
            alive()
        return super().names(alive)


@pytest.mark.parametrize(("patience", "fresh"), [(0.0, False), (30.0, True)])
def test_a_patient_caller_waits_for_a_slow_listing_that_makes_progress(patience: float, fresh: bool) -> None:
    far = Slow()
    watch = CatalogWatch("far", far.open, every, WatchMode.STANDING, rate=100.0, deadline_s=1.0, patience_s=patience)
    assert asked(watch).fresh is fresh
    watch.close()


def test_all_tables_are_known_with_the_first_response(far: Far) -> None:
    found = asked(CatalogWatch("far", far.open, every))
    assert (len(found.names), len(found.pointers), found.fresh, found.failed) == (3, 3, True, ())


def test_a_hanging_catalog_is_waited_for_once_reported_and_known_again_when_it_responds(far: Far) -> None:
    watch = CatalogWatch("far", far.open, every, deadline_s=1.0)
    before = asked(watch)
    far.held.clear()
    late = asked(watch)
    again = asked(watch)
    assert (late.answers, late.fresh, late.pointers) == (False, False, before.pointers)
    assert again.failed == late.failed
    assert "no response within" in late.failed[0]
    far.held.set()
    end = time.monotonic() + 20
    while not (found := asked(watch)).answers:
        assert time.monotonic() < end
    assert found.fresh


def test_threads_that_hang_forever_are_abandoned_and_the_catalog_is_reopened(far: Far) -> None:
    watch = CatalogWatch("far", far.open, every, deadline_s=1.0)
    asked(watch)
    far.held.clear()
    stuck = far.held
    asked(watch)
    far.held = threading.Event()
    far.held.set()
    watch._alive_at -= catalog_watch.HANGS_S + 1
    found = asked(watch)
    assert (found.answers, far.opened) == (True, 2)
    stuck.set()


def test_a_failure_reopens_the_catalog_and_keeps_the_known_tables(far: Far) -> None:
    watch = CatalogWatch("far", far.open, every)
    before = asked(watch)
    far.error = SourceUnavailable("catalog far", "down")
    down = asked(watch)
    assert (down.answers, down.pointers, down.failed) == (False, before.pointers, ("catalog far: down",))
    far.error = None
    assert asked(watch).answers
    assert far.opened == 2


def test_several_tables_that_fail_in_a_row_are_a_failure_of_the_catalog(far: Far) -> None:
    watch = CatalogWatch("far", far.open, every, WatchMode.NOW, threads=1)
    asked(watch)

    def failing(table: TableName) -> ProbeResult:
        far.probes.append(table)
        raise SourceUnavailable("catalog far", "503")

    far.probe, far.probes = failing, []  # type: ignore[method-assign]
    found = asked(watch)
    assert found.failed == ("catalog far: 503",)
    assert len(far.probes) == 3


def test_a_failing_probe_causes_a_listing_and_if_that_fails_too_the_catalog_is_reopened(far: Far) -> None:
    watch = CatalogWatch("far", far.open, lambda table: table == name(0), WatchMode.STANDING, rate=1_000.0)
    before = asked(watch)
    watch._state.listed_at -= DOUBT_S
    far.error = SourceUnavailable("catalog far", "401: the token has expired")
    watch.request([name(0)])
    down = watch.snapshot()
    assert down.failed == ("catalog far: 401: the token has expired",)
    far.error = None
    watch._state.again_at = float("-inf")
    found = asked(watch)
    assert (found.failed, found.pointers, far.opened) == ((), before.pointers, 2)
    watch.close()


def test_an_unexpected_error_of_one_probe_is_reported_for_its_table(far: Far) -> None:
    watch = CatalogWatch("far", far.open, every)
    real = far.probe

    def odd(table: TableName) -> ProbeResult:
        if table == name(1):
            raise KeyError("surprise")
        return real(table)

    far.probe = odd  # type: ignore[method-assign]
    found = asked(watch)
    assert len(found.pointers) == 2
    assert [sentence.split(":")[0] for sentence in found.failed] == ["far.sales.t1"]


def test_wrong_settings_are_raised_to_the_first_caller(far: Far) -> None:
    def wrong() -> Far:
        raise SettingsError("catalogs.far", "has no uri")

    with pytest.raises(SettingsError):
        asked(CatalogWatch("far", wrong, every))


def test_under_continuous_load_nothing_is_probed_while_nothing_is_due(far: Far) -> None:
    watch = CatalogWatch("far", far.open, every, WatchMode.STANDING, rate=1_000.0)
    assert len(asked(watch).pointers) == 3
    for _ in range(200):
        asked(watch)
    assert len(far.probes) == 3
    watch.close()


def test_under_continuous_load_a_slow_first_round_continues_in_the_background() -> None:
    far = Far(500)
    watch = CatalogWatch("far", far.open, every, WatchMode.STANDING, rate=100.0, deadline_s=2.0)
    found = asked(watch)
    assert found.answers
    assert found.failed == ()
    assert len(found.names) == 500
    assert len(found.pointers) < 500
    end = time.monotonic() + 60
    while len(asked(watch).pointers) < 500:
        assert time.monotonic() < end
        time.sleep(0.05)
    watch.close()


def test_only_requested_tables_are_probed(far: Far) -> None:
    found = asked(CatalogWatch("far", far.open, lambda table: table == name(2)))
    assert (len(found.names), far.probes) == (3, [name(2)])
