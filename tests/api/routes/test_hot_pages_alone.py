"""A hot page asks no engine: with Trino stopped, and the meta tables away, it is the page that it was."""

import asyncio
from typing import Any

import polars as pl
import pytest

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.ports.query_engine import MetaHead, MetaQuery, Table
from limnograph.services.sources.cold_reads import ColdEngine
from serving_kit import BIG, HOUR, MINUTE, NOW, FixedClock, client, lake, moved, parts, row, schema

TABLE = "/api/v1/tables/lake/sales/orders"
RANGE = f"from={(NOW - 6 * HOUR) // 1000}&to={NOW // 1000}"
HOT = [
    f"/api/v1/tables?{RANGE}",
    f"/api/v1/tables?{RANGE}&grew=0.2&within=300",
    f"/api/v1/commits?{RANGE}&min_added_data_files=10000",
    TABLE,
    f"{TABLE}/timeline?{RANGE}&step=60",
    f"{TABLE}/timeline?{RANGE}&step=60&cmp=86400",
    f"{TABLE}/commits?{RANGE}",
]


class Engine:
    """One that answers or is stopped, and counts what it is asked."""

    name = "trino"

    def __init__(self, behind: MemoryEngine) -> None:
        self._behind, self.stopped, self.asked = behind, False, 0

    def head(self) -> MetaHead:
        return self._behind.head()

    def properties(self, table: Table) -> Any:
        return self._behind.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        self.asked += 1
        if self.stopped:
            raise SourceUnavailable(self.name, "stopped")
        return self._behind.select(query)


def served(*, stopped: bool):
    times = [NOW - HOUR * hours + MINUTE for hours in range(47, 0, -1)]
    rows = [row(i, at, 1_000 + i, parent_id=i - 1 or None, added_data_files=i) for i, at in enumerate(times, 1)]
    rows.append(row(BIG, NOW - HOUR, 51_202, parent_id=47, added_data_files=50_000, added_bytes=10**9))
    log = [moved(fact.snapshot_id, fact.committed_at) for fact in rows]
    meta = lake(rows, [*log, schema(0, NOW - 40 * HOUR, (1, "a", "int"))])
    hot, trino = Engine(meta), Engine(meta)
    made = parts(hot, clock=FixedClock(), cold=ColdEngine(trino, hot, FixedClock()), evaluated=False)
    read = hot.asked
    hot.stopped = trino.stopped = stopped
    return made, lambda: (hot.asked - read, trino.asked)


async def pages(made: Any, paths: list[str]) -> list[tuple[int, Any]]:
    async with client(made) as http:
        return [((answer := await http.get(path)).status_code, answer.json()) for path in paths]


def test_hot_pages_query_no_engine_and_are_the_same_while_every_engine_is_stopped() -> None:
    running, asked = served(stopped=False)
    before = asyncio.run(pages(running, HOT))
    assert {status for status, _ in before} == {200}
    assert asked() == (0, 0)
    stopped, asked = served(stopped=True)
    assert asyncio.run(pages(stopped, HOT)) == before
    assert asked() == (0, 0)


@pytest.mark.parametrize("path", [f"{TABLE}/timeline?from={(NOW - 90 * HOUR) // 1000}&to={NOW // 1000}&step=3600"])
def test_a_page_that_reaches_further_back_queries_the_engine(path: str) -> None:
    made, asked = served(stopped=False)
    assert asyncio.run(pages(made, [path]))[0][0] == 200
    assert asked()[1] > 0
