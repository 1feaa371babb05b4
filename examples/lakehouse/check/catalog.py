"""Pitfall 7: the catalog refuses everybody for a while, because a change of its database went wrong."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.writers import append_rows
from lakehouse.parts import database
from lakehouse.parts.lake import TableLayout

AFTER = TableLayout("lake.lab.after_outage", "id bigint, v string", "", {})


class CatalogOutage:
    """Limnograph's pages need no catalog: the status says that it fails, and they show what was read before."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """A table that is committed to after the outage."""
        self._world.lake.create(AFTER)
        append_rows(self._world.lake, AFTER.name, 1)
        log.figures["commits"] = 1

    def observe(self, log: ScenarioLog) -> None:
        """While the catalog's table of pointers is gone, and after."""
        lake, observer = self._world.lake, self._world.observer
        log.claim("the first commit has a page", observer.commit(AFTER.name, lake.snapshot(AFTER.name)))
        with self._broken():
            begun = time.monotonic()
            log.equal("Limnograph says that the catalog fails", awaited(partial(self._status, "error")), "error")
            log.figures["noticed_s"] = round(time.monotonic() - begun, 1)
            log.figures["said"] = self._source()["detail"]
            begun = time.monotonic()
            page = observer.table(AFTER.name, "/commits")
            log.claim("the pages of tables answer meanwhile", page.get("rows"), page)
            log.figures["page_ms"] = round((time.monotonic() - begun) * 1000)
        append_rows(lake, AFTER.name, 1)
        page = observer.commit(AFTER.name, lake.snapshot(AFTER.name))
        log.claim("the first commit after the outage has a page", page)
        log.equal("the catalog answers again", awaited(partial(self._status, "ok")), "ok")

    @contextmanager
    def _broken(self) -> Iterator[None]:
        """Every request to the catalog ends with status 500."""
        connection = database.connect(self._world.lake.places, "catalog")
        with connection.cursor() as cursor:
            cursor.execute("alter table iceberg_tables rename to iceberg_tables_away")
            try:
                yield
            finally:
                cursor.execute("alter table iceberg_tables_away rename to iceberg_tables")
        connection.close()

    def _status(self, wanted: str) -> Any:
        found = self._source()["status"]
        return found if found == wanted else None

    def _source(self) -> Any:
        return next(each for each in self._world.observer.get("/status")["sources"] if each["kind"] == "catalog")
