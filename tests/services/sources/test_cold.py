"""Cold reads off the loop: a deadline for each, a stop when nobody waits, another engine when one fails."""

import asyncio
import threading

import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceTimeout, SourceUnavailable
from limnograph.ports.query_engine import MetaQuery
from limnograph.ports.stopping import STOP
from limnograph.services.sources.cold_reads import ColdEngine, ColdReads
from serving_kit import NOW, FixedClock, lake, row

QUERY = MetaQuery(table="snapshots", columns=("snapshot_id",))


def test_the_result_or_the_error_of_a_read_is_passed_on() -> None:
    reads = ColdReads()
    assert asyncio.run(reads.ask(divmod, 7, 3)) == (2, 1)
    with pytest.raises(ZeroDivisionError):
        asyncio.run(reads.ask(divmod, 7, 0))


def test_a_hanging_read_is_abandoned_and_stopped_and_does_not_block_other_reads() -> None:
    ends, stopped = threading.Event(), threading.Event()

    def hang() -> None:
        stop = STOP.get()
        assert stop
        with stop.calling(stopped.set):
            ends.wait(20)

    async def run() -> None:
        reads = ColdReads(within_s=0.05, most=2)
        for _ in range(2):
            with pytest.raises(SourceTimeout, match="no complete response"):
                await reads.ask(hang)
        assert stopped.is_set()
        with pytest.raises(SourceUnavailable, match="2 reads"):
            await reads.ask(hang)
        ends.set()
        for _ in range(200):
            await asyncio.sleep(0.01)
            try:
                assert await reads.ask(divmod, 7, 3) == (2, 1)
            except SourceUnavailable:
                continue
            return
        raise AssertionError("no place came free")

    asyncio.run(run())


def test_reads_of_one_page_and_its_tasks_share_a_deadline() -> None:
    ends = threading.Event()

    async def run() -> None:
        reads = ColdReads(within_s=0.5)
        with reads.page():
            assert await reads.ask(divmod, 7, 3) == (2, 1)
            with pytest.raises(SourceTimeout):
                await asyncio.create_task(reads.ask(ends.wait, 20))
            begun: list[None] = []
            with pytest.raises(SourceTimeout):
                await reads.ask(begun.append, None)
            assert not begun
        assert await reads.ask(divmod, 7, 3) == (2, 1)
        ends.set()

    asyncio.run(run())


def test_when_the_caller_leaves_the_read_is_stopped() -> None:
    started, stopped = threading.Event(), threading.Event()

    def hang() -> None:
        stop = STOP.get()
        assert stop
        with stop.calling(stopped.set):
            started.set()
            stopped.wait(20)

    async def run() -> None:
        asking = asyncio.create_task(ColdReads().ask(hang))
        await asyncio.to_thread(started.wait, 5)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(stopped.wait, 5)

    asyncio.run(run())


def both() -> tuple[MemoryEngine, MemoryEngine, ColdEngine]:
    first, second = lake([row(1, NOW)]), lake([row(2, NOW)])
    return first, second, ColdEngine(first, second, FixedClock())


def ids(engine: ColdEngine) -> list[int]:
    return engine.select(QUERY)["snapshot_id"].to_list()


def test_the_second_engine_reads_while_the_first_fails_and_the_reason_is_kept() -> None:
    first, _, engine = both()
    assert ids(engine) == [1]
    assert engine.error is None
    first.failure = SourceUnavailable("trino", "away")
    assert ids(engine) == [2]
    assert "away" in str(engine.error)
    first.failure = None
    assert ids(engine) == [1]
    assert engine.error is None


def test_a_first_engine_that_keeps_failing_is_not_queried_each_time() -> None:
    first, _, engine = both()
    first.failure = SourceUnavailable("trino", "away")
    for _ in range(3):
        ids(engine)
    assert engine.breaker.state == "open"
    first.failure = None
    assert ids(engine) == [2]


def test_when_both_fail_the_error_is_that_of_the_meta_tables() -> None:
    first, second, engine = both()
    first.failure, second.failure = SourceUnavailable("trino", "away"), SourceUnavailable("meta", "gone")
    with pytest.raises(SourceUnavailable, match="meta: gone"):
        engine.select(QUERY)
