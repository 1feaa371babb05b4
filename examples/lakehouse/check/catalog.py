"""Pitfall 7: the catalog answers nobody for a while, because something holds its database."""

from __future__ import annotations

import time
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
    """Limnograph's pages need no catalog: they say that it does not answer, and from when what they show is."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """A table that is committed to after the outage."""
        self._world.lake.create(AFTER)
        append_rows(self._world.lake, AFTER.name, 1)
        log.figures["commits"] = 1

    def observe(self, log: ScenarioLog) -> None:
        """While the catalog's table of pointers is locked, and after."""
        lake, observer = self._world.lake, self._world.observer
        log.equal("the catalog is a source that answers", awaited(partial(self._status, "ok")), "ok")
        begun = time.monotonic()
        with database.connect(lake.places, "catalog") as connection:
            connection.autocommit = False
            with connection.cursor() as cursor:
                cursor.execute("lock table iceberg_tables in access exclusive mode")
                log.equal("Limnograph says that it does not answer", awaited(partial(self._status, "error")), "error")
                log.figures["noticed_s"] = round(time.monotonic() - begun, 1)
                asked = time.monotonic()
                page = observer.table(AFTER.name, "/commits")
                log.claim("the pages of tables answer meanwhile", page.get("rows"), page)
                log.figures["page_ms"] = round((time.monotonic() - asked) * 1000)
                log.figures["said"] = self._source()["detail"]
            connection.rollback()
        append_rows(lake, AFTER.name, 1)
        page = observer.commit(AFTER.name, lake.snapshot(AFTER.name))
        log.claim("the first commit after the outage has a page", page)
        log.equal("the catalog answers again", awaited(partial(self._status, "ok")), "ok")

    def _status(self, wanted: str) -> Any:
        found = self._source()["status"]
        return found if found == wanted else None

    def _source(self) -> Any:
        return next(each for each in self._world.observer.get("/status")["sources"] if each["kind"] == "catalog")
