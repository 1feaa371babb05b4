"""Tasks of `findings.py`: evaluating findings on generated meta tables, and listing many of them."""

from __future__ import annotations

from typing import Any

import meta_lake
from serving_tasks import Clock, _engine, _loaded

MINUTE = 60 * 1_000_000
DAY = 24 * 3_600 * 1_000_000


def findings_cold(clock: Clock, folder: str) -> int:
    """All findings from the meta tables alone, as `limnograph findings` does."""
    from limnograph.adapters.memory.inbox import MemoryInbox
    from limnograph.services.findings.records import FindingRecords
    from limnograph.services.findings.replay import FindingsReplay

    engine = _engine(folder)
    with clock():
        replay = FindingsReplay(engine, FindingRecords(MemoryInbox(), engine), fresh=engine)
        return sum(1 for _ in replay.at(meta_lake.END))


def findings_commit(clock: Clock, folder: str, table: str) -> int:
    """One table after a commit, from the facts in memory."""
    from limnograph.domain.finding_limits import FindingLimits
    from limnograph.services.findings.evaluation import LOOK_BACK, begun, continued
    from limnograph.services.findings.table_facts import facts_of

    limits, found = FindingLimits(), 0
    held = _loaded(folder).reading.lake.tables[meta_lake.uuid_of(int(table))]
    known = begun(facts_of(held), 0, meta_lake.END, limits)
    for _ in range(50):
        with clock():
            facts = facts_of(held, (known.base.at or 0) - LOOK_BACK)
            made = continued(known, facts, 1, meta_lake.END + 1, limits)
        found = 0 if made is None else len(made.episodes)
    return found


def findings_tick(clock: Clock, folder: str) -> int:
    """A call that finds nothing new, two minutes after the last table was evaluated."""
    time = _Moving()
    evaluator = _evaluator(folder, time)
    for _ in range(2):
        while evaluator.evaluate() or evaluator.board.behind:
            pass
        time.micros += 2 * MINUTE
    for _ in range(20):
        with clock():
            evaluator.evaluate()
    return len(evaluator.board.open)


class _Moving:
    """A clock that begins at the end of the generated lake."""

    def __init__(self) -> None:
        self.micros = meta_lake.END

    def now(self) -> int:
        return self.micros


def _evaluator(folder: str, time: Any) -> Any:
    from limnograph.adapters.memory.inbox import MemoryInbox
    from limnograph.services.findings.evaluator import FindingsEvaluator
    from limnograph.services.findings.records import FindingRecords

    store = _loaded(folder)
    return FindingsEvaluator(store, FindingRecords(MemoryInbox(), _engine(folder)), time)


def findings_page(clock: Clock, open_findings: str) -> int:
    """A page of 50 of many open findings, filtered by severity."""
    from limnograph.domain.facts.findings import FindingFact
    from limnograph.domain.queries import FindingsQuery
    from limnograph.services.findings.board import FindingsBoard
    from limnograph.services.findings.pages import FindingPages

    facts = [
        FindingFact(
            finding_id=f"{number:032x}",
            seq=1,
            table_uuid=meta_lake.uuid_of(number % 5_000),
            catalog="lake",
            namespace="sales",
            table=f"t{number % 5_000}",
            code=("file_burst", "small_files", "stale", "delete_files_growing")[number % 4],
            subject="",
            state="open",
            severity=("critical", "warning", "info")[number % 3],
            opened_at=meta_lake.END - number * 1_000_000,
            evidence={"files": "2000", "total_data_files": "5000"},
        )
        for number in range(int(open_findings))
    ]

    class Evaluated:
        board = FindingsBoard(facts, frozenset())

    class Store:
        class reading:  # noqa: N801
            error = None

    pages: Any = FindingPages(Store, Evaluated, None, _team(int(open_findings)))  # type: ignore[arg-type]
    query, total = FindingsQuery(start=0, end=meta_lake.END, severity="warning", limit=50), 0
    for _ in range(50):
        with clock():
            total = pages.page(query).total
    return total


def _team(open_findings: int) -> Any:
    """What a team wrote: a note on every tenth of the open findings, half of them acknowledgements, and owners of all
    tables in the settings.
    """
    from limnograph.adapters.memory.inbox import MemoryInbox
    from limnograph.adapters.memory.query_engine import MemoryEngine
    from limnograph.domain.facts.notes import NoteFact
    from limnograph.services.findings.team_memory import TeamMemory
    from limnograph.services.notes.owners import OwnerDirectory
    from limnograph.services.notes.registry import NoteRegistry

    engine, inbox, clock = MemoryEngine(), MemoryInbox(), _Moving()
    facts = [
        NoteFact(
            event_id=f"{number:032x}",
            at=meta_lake.END - number,
            kind="ack" if number % 20 else "note",
            scope="finding",
            target=f"{number:032x}",
            text="planned",
            author="ada",
            until=meta_lake.END + DAY if number % 20 else None,
            severity="critical",
        )
        for number in range(0, open_findings, 10)
    ]
    engine.append([], [], notes=facts)
    notes = NoteRegistry(inbox, engine, clock)
    notes.catch_up()
    owners = OwnerDirectory(notes, dict, (("lake.sales.*", "team-sales"),))
    return TeamMemory(notes, owners, None, clock)


TASKS = {
    "findings_cold": findings_cold,
    "findings_commit": findings_commit,
    "findings_tick": findings_tick,
    "findings_page": findings_page,
}
