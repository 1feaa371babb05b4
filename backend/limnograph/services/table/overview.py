"""One table now: identity, schema, spec, refs, freshness, jobs, and missing set-up steps."""

from __future__ import annotations

import json
from typing import Any

from limnograph.domain.answers.tables import Freshness, Health, Hint, LinkedJob, Ref, TableDetail, TableRef
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.ids import TableName
from limnograph.domain.page_paths import table_path
from limnograph.domain.thresholds import JobPace
from limnograph.domain.time import MICROS_PER_SECOND, Micros, to_millis
from limnograph.ports.clock import Clock
from limnograph.services.findings.board import key_of_name
from limnograph.services.findings.pages import FindingPages
from limnograph.services.fleet import hints, numbers, reasons
from limnograph.services.fleet import view as table_view
from limnograph.services.jobs.discovery import Jobs
from limnograph.services.jobs.paces import slowest_readers
from limnograph.services.lake.history import History, history_of
from limnograph.services.lake.names import standing_names
from limnograph.services.lake.store import HotStore
from limnograph.services.table.schema import versions as schemas

DAY = 86_400 * MICROS_PER_SECOND


class TableService:
    """The current state of one table. Immutable after construction."""

    def __init__(
        self,
        store: HotStore,
        jobs: Jobs,
        clock: Clock,
        findings: FindingPages,
    ) -> None:
        self._store, self._jobs, self._clock, self._findings = store, jobs, clock, findings

    async def detail(self, name: TableName) -> TableDetail:
        """The current state. Raises NotFound; SourceUnavailable before the first read."""
        reading = self._store.reading
        if reading.error is not None and not reading.lake.histories and not reading.lake.damaged:
            raise SourceUnavailable("meta", reading.error.detail)
        history = reading.lake.find(name)
        if history is not None:
            self._store.asked(history.uuid)
        now = self._clock.now()
        jobs = await self._jobs.of_table(name, to_millis(now))
        pace = (await slowest_readers(self._jobs.metrics, to_millis(now - DAY), to_millis(now))).get(name)
        if history is None:
            # A name that was never readable still has a page, which shows the reason.
            damage = reading.lake.damaged[name]
            empty = history_of("", name, [], [damage])
            return self._view(name, empty, jobs, None)
        return self._view(name, history, jobs, pace)

    def _view(self, name: TableName, history: History, jobs: list[LinkedJob], pace: JobPace | None) -> TableDetail:
        now = self._clock.now()
        seen = table_view.view(history, now - DAY, now, pace)
        key = history.uuid or key_of_name(name)
        found = self._findings.recent_of(key, now)
        head, named, damage = history.head, _details(history.latest("named")), history.unreadable
        schema, spec = history.latest("schema"), history.latest("spec")
        first = next(iter(history.of_kind("first_seen")), None)
        watermark = self._store.known_until(name)
        gone = _gone_name(history, name)
        return TableDetail(
            **name.plain._asdict(),
            table_uuid=history.uuid or None,
            format=head.format if head else named.get("format"),
            format_version=head.format_version if head else named.get("format_version"),
            location=named.get("location"),
            status=_health(history, head, gone),
            unreadable_code=damage.to_value if damage else None,
            unreadable_detail=damage.detail if damage else None,
            gone_at=to_millis(gone.at) if gone else None,
            renamed_to=_renamed(history) if gone else None,
            reason=reasons.reason(found, seen, evaluated=self._findings.board.is_evaluated(key)),
            schema_id=_number(schema.to_value if schema else None, head.schema_id if head else None),
            fields=schemas.fields(schema.detail if schema else None),
            spec_id=_number(spec.to_value if spec else None, head.spec_id if head else None),
            partition_fields=schemas.partition_fields(spec.detail if spec else None),
            refs=refs(history),
            values=numbers.values(seen),
            freshness=_freshness(history, now),
            jobs=jobs,
            first_seen_at=to_millis(first.at) if first else None,
            watermark=to_millis(watermark),
            hints=self._hints(name, jobs),
            findings=found,
            owner=self._findings.team.owners.of_table(history.uuid or None, name),
        )

    def _hints(self, name: TableName, jobs: list[LinkedJob]) -> list[Hint]:
        reading = self._store.reading
        found = []
        if reading.head.snapshots is None and reading.head.changes is None and reading.error is None:
            found.append(hints.NO_PIPELINE)
        if self._jobs.metrics is None:
            found.append(hints.NO_PROMETHEUS)
        if not jobs:
            found.append(hints.no_jobs(name))
        return found


def _gone_name(history: History, name: TableName) -> ChangeFact | None:
    """The change that took the name from the table; None if the table still has it."""
    newest = standing_names(history.changes).get(str(name))
    return newest if newest is not None and newest.kind == "dropped" else None


def _health(history: History, head: SnapshotFact | None, gone: ChangeFact | None) -> Health:
    if gone is None:
        return numbers.health(history, head)
    return "dropped" if history.dropped else "renamed"


def _renamed(history: History) -> TableRef | None:
    """The current name of the table; None if it has none."""
    name = None if history.dropped else history.table.name
    return None if name is None else TableRef(**name.plain._asdict(), path=table_path(name))


def refs(history: History) -> list[Ref]:
    """Current branches and tags, main first."""
    newest: dict[str, ChangeFact] = {}
    for change in history.of_kind("ref"):
        if change.subject:
            newest[change.subject] = change
    found = [
        Ref(
            name=subject,
            type="tag" if _details(change).get("type") == "tag" else "branch",
            snapshot_id=change.to_value,
        )
        for subject, change in newest.items()
        if change.to_value is not None
    ]
    if history.main_ids and not _gone(newest.get("main"), history):
        found = [ref for ref in found if ref.name != "main"]
        found.append(Ref(name="main", type="branch", snapshot_id=str(history.main_ids[-1])))
    return sorted(found, key=lambda ref: (ref.name != "main", ref.type, ref.name))


def _gone(change: ChangeFact | None, history: History) -> bool:
    """Whether main was removed after its last move."""
    return change is not None and change.at > history.main_times[-1]


def _freshness(history: History, now: Micros) -> Freshness:
    last = history.main_times[-1] if history.main_times else None
    return Freshness(
        last_committed_at=to_millis(last),
        age_s=None if last is None else (now - last) / MICROS_PER_SECOND,
        usual_interval_s=table_view.usual_interval_s(history, now),
    )


def _details(change: ChangeFact | None) -> dict[str, Any]:
    try:
        found = json.loads(change.detail) if change and change.detail else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _number(text: str | None, other: int | None) -> int | None:
    return int(text) if text is not None and text.lstrip("-").isdecimal() else other
