"""Every GET that reads shared state, side by side, while threads make new lakes: no answer fails, and none is torn.

The interpreter switches threads every microsecond, so that a few seconds meet what a server meets in weeks.
LIMNOGRAPH_STEPS: seconds are a three-hundredth of it, a minute at most (CI 4).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import time
import uuid
from collections import Counter
from typing import Any

import httpx
import msgspec

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.analysis.findings.episodes import Episode
from limnograph.analysis.findings.stretch import Stretch
from limnograph.api.app import Limits
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import AlertFact, RunFact, RunTable
from limnograph.domain.facts.findings import FindingEffectFact
from limnograph.domain.facts.meta_tables import ChangeFact, SnapshotFact
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem
from limnograph.services.jobs.runs import items_of
from limnograph.services.lake.lake import Facts
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, SECOND, client, lake, moved, parts, row, schema
from thread_kit import running, switching_often

SECONDS = min(60.0, max(4.0, int(os.environ.get("LIMNOGRAPH_STEPS", "0")) / 300))
TABLES, READERS = 12, 8
NAMES = [f"t{number:02}" for number in range(TABLES)]
HOT = f"from={(NOW - 6 * HOUR) // 1000}&to={NOW // 1000}"
OLD = f"from={(NOW - 3 * 24 * HOUR) // 1000}&to={NOW // 1000}"
ONE = "/api/v1/tables/lake/sales/t03"
PAGES = [
    *(f"/api/v1/tables?{span}" for span in (HOT, OLD, "")),
    *(f"/api/v1/tables/heat?{span}" for span in (HOT, OLD, "")),
    f"/api/v1/tables?{HOT}&sort=delta_data_files",
    f"/api/v1/tables?{HOT}&grew=0.01&within=300",
    f"/api/v1/tables?{HOT}&grew=0.01&within=900",
    *(f"/api/v1/commits?{span}&limit=200" for span in (HOT, OLD)),
    ONE,
    *(f"{ONE}/timeline?{span}&detail=true" for span in (HOT, OLD)),
    *(f"{ONE}/commits?{span}" for span in (HOT, OLD)),
    *(f"{ONE}/partitions?{HOT}", f"{ONE}/schema", f"{ONE}/refs", f"{ONE}/explain?{HOT}"),
    *("/api/v1/findings", "/api/v1/findings?state=closed", "/api/v1/findings?table=lake.sales.t03"),
    *("/api/v1/findings?owner=ada&acknowledged=any", "/api/v1/notes", "/api/v1/notes?table=lake.sales.t03"),
    *("/api/v1/alerts", f"/api/v1/alerts/{'0' * 15}1", "/api/v1/status", "/metrics", "/readyz"),
]


def own(number: int) -> dict[str, str]:
    return {"table_uuid": str(uuid.UUID(int=number + 1)), "table": NAMES[number]}


def days() -> MemoryEngine:
    """Four days of commits, of which memory holds two, and a schema."""
    rows: list[SnapshotFact] = []
    for number in range(TABLES):
        for place in range(24):
            at, i = NOW - (4 * 24 - 4 * place) * HOUR + number * SECOND, number * 1_000 + place
            rows.append(row(i, at, 100 + place, parent_id=i - 1, added_data_files=1, observed_at=at, **own(number)))
    log = [
        moved(fact.snapshot_id, fact.committed_at or 0, table_uuid=fact.table_uuid, table=fact.table) for fact in rows
    ]
    columns = schema(0, NOW - 4 * 24 * HOUR, (1, "a", "int"))
    made = {name: getattr(columns, name) for name in columns.__struct_fields__}
    return lake(rows, [*log, *(ChangeFact(**{**made, **own(number)}) for number in range(TABLES))])


class Writers:
    """What changes a server's state: the watcher, the pipeline, other servers, people who push. Each in its thread."""

    def __init__(self, engine: MemoryEngine, made: ServerServices) -> None:
        self._engine, self._made = engine, made
        self._ids = itertools.count(1_000_000)
        self.waiting: list[tuple[SnapshotFact, ChangeFact]] = []

    def watch(self) -> None:
        """A provisional commit, at times a table that comes or goes, and the end of a round."""
        i = next(self._ids)
        at, which = NOW - 30 * MINUTE + i % 1_000 * SECOND, own(i % TABLES)
        fact = row(i, at, 200 + i % 500, added_data_files=i % 20_000, observed_at=NOW, **which)
        told = fact, moved(i, at, **which)
        self._made.store.apply(Facts([told[0]], [told[1]]))
        self.waiting.append(told)
        name = f"lake.sales.{NAMES[i % TABLES]}"
        self._made.store.probed(NOW - i % 7, ("lake",) if i % 3 else (), (name,) if i % 2 else ())

    def commit(self) -> None:
        """The pipeline makes them durable; now and then the meta tables do not answer."""
        told, self.waiting = self.waiting[:5], self.waiting[5:]
        self._engine.append([fact for fact, _ in told], [each for _, each in told])
        self._engine.failure = SourceUnavailable("meta", "away") if next(self._ids) % 5 == 0 else None
        self._made.store.refresh()
        self._engine.failure = None
        self._made.store.refresh()

    def push(self) -> None:
        """Runs and alerts that another server accepted."""
        i = next(self._ids)
        table = RunTable(catalog="lake", namespace="sales", table=NAMES[i % 4], role="reads")
        run = RunFact(
            run_id=f"run-{i // 2}",
            status=("running", "ok")[i % 2],
            job_name="churn",
            started_at=NOW - HOUR,
            ended_at=NOW if i % 2 else None,
            tables=[table],
            observed_at=NOW,
        )
        self._made.options.inbox.put(items_of([run]))
        self._made.runs.catch_up()
        self._made.alerts.catch_up()
        self.note(i)

    def note(self, i: int) -> None:
        """A note of another server on a finding: text, an owner, or an acknowledgement that ends or is deleted."""
        board = self._made.evaluator.board
        if not board.open:
            return
        kind = ("note", "owner", "ack")[i % 3]
        fact = NoteFact(
            event_id=str(i),
            at=Micros(NOW + i),
            kind=kind,
            scope="finding",
            target=board.open[i % len(board.open)].finding_id,
            table_uuid=str(own(3)["table_uuid"]),
            text="ada" if kind != "ack" else None,
            until=Micros(NOW + HOUR) if kind == "ack" and i % 2 else None,
            severity="critical",
        )
        self._made.options.inbox.put([InboxItem("note", str(i), msgspec.json.encode(fact), Micros(NOW + i))])
        self._made.notes.catch_up()

    def evaluate(self) -> None:
        """Findings of tables that changed, with jobs and effects that other tasks measured."""
        i = next(self._ids)
        at = Micros(NOW - i % 60 * MINUTE)
        slow = Episode("job_slower", "churn", Stretch(at, at), "warning", None, {"ratio": 1.5})
        self._made.evaluator.observed({str(own(i % TABLES)["table_uuid"]): [slow]})
        board = self._made.evaluator.board
        if board.open:
            effect = FindingEffectFact(job_name="churn", verdict="slower", ratio=2.0 + i % 3, ratio_low=1.5)
            self._made.evaluator.measured({board.open[i % len(board.open)].finding_id: [effect]})
        with contextlib.suppress(SourceUnavailable):
            self._made.evaluator.evaluate()
        self._made.team.observe(self._made.evaluator.board)


def alert(number: int) -> AlertFact:
    times = {"starts_at": NOW - number % 500 * MINUTE, "ends_at": None, "observed_at": NOW}
    about = {"catalog": "lake", "namespace": "sales", "table": NAMES[number % TABLES]}
    return AlertFact(fingerprint=f"{number % 20:016}", status="firing", alert_name="Slow", **times, **about)


def wrong(path: str, answer: httpx.Response) -> str | None:
    """What no answer may be: failed, with a table missing, out of order, with a commit twice."""
    if (OLD in path or "/partitions" in path) and answer.status_code == 503:
        # the meta tables were away when older rows, or partitions, which are only there, were asked for
        return None if answer.json()["type"] == "source-unavailable" else answer.text[:300]
    if answer.status_code != 200:
        return f"{answer.status_code} {answer.text[:300]}"
    if not path.startswith(("/api/v1/tables?", "/api/v1/tables/heat", "/api/v1/commits", f"{ONE}/commits")):
        return None
    page: dict[str, Any] = json.loads(answer.content)
    if "commits" in path:
        keys = [(each["t"], each["snapshot_id"]) for each in page["rows"]]
        times, once = [at for at, _ in keys], len(set(keys)) == len(keys)
        return None if times == sorted(times, reverse=True) and once else f"order or repeats: {keys}"
    if "grew" in path:
        return None
    listed = sorted(each["table"] for each in page["rows"])
    return None if (listed, page["total"]) == (NAMES, TABLES) else f"{page['total']} tables: {listed}"


async def ask(made: ServerServices, seconds: float) -> tuple[Counter[str], list[str]]:
    """How often each page was answered, and what was wrong."""
    asked, failed, end = Counter[str](), list[str](), time.monotonic() + seconds
    async with client(made, limits=Limits(page_cache=0)) as http:

        async def reader(first: int) -> None:
            for place in itertools.count(first):
                if failed or (time.monotonic() > end and place > first + len(PAGES) // READERS):
                    return
                path = PAGES[place % len(PAGES)]
                answer = await http.get(path)
                asked[path] += 1
                if found := wrong(path, answer):
                    failed.append(f"{path}: {found}")

        async def accept() -> None:
            for number in itertools.count():
                if time.monotonic() > end or failed:
                    return
                await made.alerts.accept([alert(number)])
                made.backend.live.open("me", None).close()
                await asyncio.sleep(0.005)

        await asyncio.gather(accept(), *(reader(place * len(PAGES) // READERS) for place in range(READERS)))
    return asked, failed


def test_no_page_fails_or_is_inconsistent_while_the_lake_changes() -> None:
    engine = days()
    made = parts(engine)
    asyncio.run(made.alerts.accept([alert(number) for number in range(20)]))
    writers = Writers(engine, made)
    with switching_often(), running(writers.watch, writers.commit, writers.push, writers.evaluate, rest=0.01) as broken:
        asked, failed = asyncio.run(ask(made, SECONDS))
    assert failed == []
    assert broken == []
    assert set(asked) == set(PAGES)
    print(f"{sum(asked.values())} answers, {next(writers._ids) - 1_000_000} changes")
