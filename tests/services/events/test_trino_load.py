"""Two hundred events of Trino a second on one core: parsed, reduced to rows and stored in a real inbox."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

from lakes import FixedClock
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.services.events.event_rate import PER_SECOND
from limnograph.services.events.intake import EventIntake
from limnograph.services.events.naming import TableResolver
from limnograph.services.jobs.runs import RunRegistry

EVENTS = 200
PLAN = "Fragment 0 [SINGLE]\n" + "  - TableScan[table = iceberg:sales.orders] constraint on [customer]\n" * 800
"""A plan of 50 KB, as those of queries with some joins."""


def event(number: int) -> bytes:
    read = {"catalogName": "iceberg", "schema": "sales", "table": "orders", "columns": ["id"], "physicalInputRows": 5}
    return json.dumps({
        "metadata": {"queryId": f"q{number}", "query": "select 1", "plan": PLAN, "jsonPlan": PLAN},
        "context": {"user": "ada", "source": "dbt", "sessionProperties": {}},
        "statistics": {"wallTime": 1.5, "operatorSummaries": [PLAN]},
        "ioMetadata": {"inputs": [read, {**read, "table": "lines"}]},
        "endTime": "2026-11-26T10:00:00Z",
    }).encode()  # fmt: skip


def test_events_at_the_rate_need_less_than_one_core(tmp_path: Path) -> None:
    inbox = SqlInbox(f"sqlite:///{tmp_path}/inbox.db")
    intake = EventIntake(RunRegistry(inbox), TableResolver({"lake": {}}), FixedClock(), lambda: None,
                         trino_catalogs={"iceberg": "lake"})  # fmt: skip
    bodies = [event(number) for number in range(EVENTS)]

    async def send() -> float:
        begin = time.process_time()
        for body in bodies:
            assert (await intake.trino(body)).accepted == 1
        return time.process_time() - begin

    seconds = asyncio.run(send())
    assert len(inbox.items("report")) == 2 * EVENTS
    assert EVENTS / seconds >= PER_SECOND, f"{EVENTS / seconds:.0f} events per second of processor time"
