"""How long the runs of a table's writers last."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from limnograph.domain.facts.events import RunFact
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros


def longest_runs_us(runs: Iterable[RunFact], uuid_of: Callable[[TableName], str | None], now: Micros) -> dict[str, int]:
    """By table uuid, the longest run of a job that writes the table, microseconds; a run without an end lasts until
    now. O(transitions).
    """
    started: dict[str, Micros] = {}
    ended: dict[str, Micros] = {}
    tables: dict[str, set[str]] = {}
    for run in runs:
        if run.started_at is not None:
            started[run.run_id] = min(run.started_at, started.get(run.run_id, run.started_at))
        end = run.ended_at if run.ended_at is not None else run.at if run.status != "running" else None
        if end is not None:
            ended[run.run_id] = max(end, ended.get(run.run_id, end))
        own = tables.setdefault(run.run_id, set())
        for each in run.tables or ():
            if each.role == "writes" and each.catalog and each.table:
                uuid = uuid_of(TableName(each.catalog, each.namespace or "", each.table))
                own |= {uuid} if uuid else set()
    found: dict[str, int] = {}
    for run_id, uuids in tables.items():
        if run_id in started:
            lasted = max(0, ended.get(run_id, now) - started[run_id])
            found |= {uuid: max(lasted, found.get(uuid, 0)) for uuid in uuids}
    return found
