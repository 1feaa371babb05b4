"""Finds what a text names: tables, commits, alerts, findings, jobs and applications, over the whole fleet.

Cost law: answers from memory, off the event loop. For a snapshot id that is not in memory the meta tables are
searched: one column of `snapshots`, within the deadline of all cold reads.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote

from limnograph.domain.answers.matches import Match, Matches
from limnograph.domain.answers.tables import TableRow
from limnograph.domain.errors import SourceError
from limnograph.domain.ids import TableName
from limnograph.domain.page_paths import commit_path, finding_path, table_path
from limnograph.domain.queries import FleetQuery
from limnograph.domain.time import EPOCH, MS_PER_SECOND, Micros, Millis, to_millis
from limnograph.ports.clock import Clock
from limnograph.ports.query_engine import MetaQuery, QueryEngine
from limnograph.services.alerts.episode import AlertEpisode
from limnograph.services.alerts.registry import AlertRegistry
from limnograph.services.find.commits import FoundApplication, applications_with, commits_with
from limnograph.services.findings.board import is_shown
from limnograph.services.findings.pages import FindingPages
from limnograph.services.fleet.page import FleetService
from limnograph.services.jobs.directory import FoundJob, JobDirectory
from limnograph.services.lake.store import HotStore

MOST_CHARS = 200
LEAST_APPLICATION = 3
"""Fewest characters of an application: shorter texts are in most of them."""
_ID = re.compile(r"-?[0-9]{6,19}")
"""Snapshot ids; the versions of Delta tables are shorter, and the same in all of them."""
_HEX = re.compile(r"[0-9a-f]{6,32}")
_LARGEST = 2**63
DAY_MS = 24 * 3_600 * MS_PER_SECOND


class FindSources(NamedTuple):
    """What is searched."""

    store: HotStore
    fleet: FleetService
    alerts: AlertRegistry
    findings: FindingPages
    jobs: JobDirectory
    older: QueryEngine
    """Reads commits that are no longer in memory."""


class Finder:
    """Immutable after construction."""

    def __init__(self, sources: FindSources, clock: Clock) -> None:
        self._sources, self._clock = sources, clock

    async def find(self, text: str, limit: int) -> Matches:
        """What a text names, at most `limit` of each kind. Raises SourceError before the first read."""
        text = text.strip()
        if not text:
            return Matches(rows=[], not_searched=[])
        now = to_millis(self._clock.now())
        query = FleetQuery(start=Millis(now - DAY_MS), end=now, text=text, limit=limit)
        (tables, (ids, others)) = await asyncio.gather(
            self._sources.fleet.page(query), asyncio.to_thread(self._from_memory, text, limit)
        )
        older, missing = list[Match](), False
        if _snapshot_id(text) is not None and not any(each.kind == "commit" for each in ids):
            older, missing = await self._older(text, limit)
        found = [*older, *ids, *map(_of_table, tables.rows), *others]
        return Matches(rows=found, not_searched=["meta"] if missing else [])

    def _from_memory(self, text: str, limit: int) -> tuple[list[Match], list[Match]]:
        """What has the text as its id, and what has it in its name."""
        sources, ids, folded = self._sources, list[Match](), text.casefold()
        lake, snapshot_id = sources.store.reading.lake, _snapshot_id(text)
        if snapshot_id is not None:
            found = commits_with(lake.listed, snapshot_id, limit)
            ids += [_commit(each.table.name, str(each.snapshot_id), each.at) for each in found if each.table.name]
        if _HEX.fullmatch(folded):
            ids += map(_alert, sources.alerts.with_prefix(folded, limit))
            ids += self._findings(folded, limit)
        named = [each for job in sources.jobs.find(text, lake.names, limit) for each in _job(job)]
        if len(text) >= LEAST_APPLICATION:
            named += [each for found in applications_with(lake.listed, text, limit) for each in _application(found)]
        return ids, named

    def _findings(self, prefix: str, limit: int) -> Iterable[Match]:
        shown = (each for each in self._sources.findings.board.facts if is_shown(each))
        found = [each for each in shown if each.finding_id.startswith(prefix)][:limit]
        for fact in found:
            name = TableName(fact.catalog or "", fact.namespace or "", fact.table or "")
            yield Match(
                kind="finding",
                id=fact.finding_id,
                path=finding_path(fact.finding_id),
                **name.plain._asdict(),
                name=fact.code,
                at=to_millis(fact.opened_at or EPOCH),
            )

    async def _older(self, text: str, limit: int) -> tuple[list[Match], bool]:
        """Commits of an id in the meta tables, and whether those did not respond."""
        columns = ("catalog", "namespace", "table", "table_uuid", "snapshot_id", "committed_at")
        query = MetaQuery(table="snapshots", columns=columns, snapshot_ids=(int(text),), limit=10 * limit)
        reads = self._sources.store.reads
        try:
            with reads.page():
                rows = (await reads.ask(self._sources.older.select, query)).to_dicts()
        except SourceError:
            return [], True
        lake = self._sources.store.reading.lake
        found = {}
        for row in rows:
            table = lake.tables.get(row["table_uuid"])
            name = table.name if table and table.name else TableName(row["catalog"], row["namespace"], row["table"])
            found[row["table_uuid"]] = _commit(name, str(row["snapshot_id"]), row["committed_at"])
        return list(found.values())[:limit], False


def _snapshot_id(text: str) -> int | None:
    return int(text) if _ID.fullmatch(text) and -_LARGEST <= int(text) < _LARGEST else None


def _commit(name: TableName, snapshot_id: str, at: Micros | None) -> Match:
    path = commit_path(name, snapshot_id)
    return Match(kind="commit", id=snapshot_id, path=path, **name.plain._asdict(), at=to_millis(at))


def _alert(episode: AlertEpisode) -> Match:
    fact = episode.fact
    name = TableName(fact.catalog or "", fact.namespace or "", fact.table).plain._asdict() if fact.table else {}
    return Match(
        kind="alert",
        id=fact.fingerprint,
        path=f"/alerts/{fact.fingerprint}",
        **name,
        name=fact.alert_name,
        at=to_millis(fact.starts_at),
    )


def _of_table(row: TableRow) -> Match:
    name = TableName.from_plain(row.catalog, row.namespace, row.table)
    return Match(
        kind="table",
        id=str(name),
        path=table_path(name),
        catalog=row.catalog,
        namespace=row.namespace,
        table=row.table,
        name=row.reason.code,
    )


def _job(job: FoundJob) -> Iterator[Match]:
    """A job leads to the timeline of its first table, if it has one."""
    if job.tables:
        first = job.tables[0]
        path = f"{table_path(first)}?job={quote(job.name, safe='')}"
        yield Match(kind="job", id=job.name, path=path, **first.plain._asdict(), tables=len(job.tables))


def _application(found: FoundApplication) -> Iterator[Match]:
    """An application leads to its newest commit."""
    commit = found.newest
    if commit.table.name:
        yield Match(
            kind="application",
            id=found.text,
            path=commit_path(commit.table.name, str(commit.snapshot_id)),
            **commit.table.name.plain._asdict(),
            at=to_millis(commit.at),
            tables=found.tables,
            commits=found.commits,
        )
