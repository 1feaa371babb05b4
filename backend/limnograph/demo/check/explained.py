"""Explain on the story: from the running server, and on the same lake without one commit."""

from __future__ import annotations

import asyncio
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
import polars as pl

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.system_clock import SystemClock
from limnograph.demo.requests import DemoServer
from limnograph.domain.answers.explanations import ExplainPage, Explanation
from limnograph.domain.ids import TableName
from limnograph.domain.time import Millis
from limnograph.ports.metrics_source import MetricsSource
from limnograph.ports.query_engine import MetaHead, MetaQuery, QueryEngine, Table
from limnograph.services.explain.baseline import windows
from limnograph.wiring.cold import metrics_sources
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions
from limnograph.wiring.watching import embedded_engine

if TYPE_CHECKING:
    from limnograph.settings import Settings


class HttpExplanations:
    """Port ExplainAnswers: the server's response; with `without`, the result of the same services on the lake without
    that snapshot.
    """

    def __init__(self, server: DemoServer, settings: Settings) -> None:
        self._server, self._settings = server, settings

    def explanation(self, table: str, job: str, span: tuple[int, int], without: str | None = None) -> Explanation:
        """The explanation of a job's change in a range of epoch ms."""
        if without is not None:
            return asyncio.run(
                _in_process(self._settings, table, job, (Millis(span[0]), Millis(span[1])), int(without))
            ).explanation
        path = "/".join(urllib.parse.quote(part) for part in table.split("."))
        asked = urllib.parse.urlencode({"from": span[0], "to": span[1], "job": job})
        answer = self._server.get(f"/api/v1/tables/{path}/explain?{asked}")
        return msgspec.convert(answer["explanation"], Explanation, strict=False)


class Without:
    """Port QueryEngine over the meta tables without the rows of a snapshot and of refs that moved to it."""

    name = "without"

    def __init__(self, engine: QueryEngine, snapshot_id: int) -> None:
        self._engine = engine
        moved = (pl.col("kind") == "ref") & pl.col("to_value").eq_missing(str(snapshot_id))
        self._of_it = {"snapshots": pl.col("snapshot_id") == snapshot_id, "changes": moved}

    def head(self) -> MetaHead:
        """Unchanged."""
        return self._engine.head()

    def properties(self, table: Table) -> Mapping[str, str]:
        """Unchanged."""
        return self._engine.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """All rows except those of the snapshot."""
        of_it = self._of_it.get(query.table)
        if of_it is None:
            return self._engine.select(query)
        asked = query.columns
        more = (*asked, *(name for name in of_it.meta.root_names() if name not in asked)) if asked else ()
        rows = self._engine.select(msgspec.structs.replace(query, columns=more)).filter(~of_it)
        return rows.select(asked) if asked else rows


def services_without(settings: Settings, snapshot_id: int, sources: Sequence[MetricsSource]) -> ServerServices:
    """A server's services over the lake without one commit. They have no runs and no alerts."""
    engine = Without(embedded_engine(settings), snapshot_id)
    return build_services(ServerOptions(engine, MemoryInbox(), SystemClock(), sources))


async def _in_process(
    settings: Settings, table: str, job: str, span: tuple[Millis, Millis], snapshot_id: int
) -> ExplainPage:
    name, sources = TableName(*table.split(".")), metrics_sources(settings)
    services = services_without(settings, snapshot_id, sources)
    try:
        await asyncio.to_thread(services.runs.restore)
        await asyncio.to_thread(services.store.refresh)
        return await services.backend.explanations.page(name, windows(*span, "before"), job)
    finally:
        for source in sources:
            await source.aclose()
