"""The log of actions: from lease to commit, from the meta table and the inbox, each source read as often as needed."""

from __future__ import annotations

import msgspec
import polars as pl

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem
from limnograph.ports.query_engine import MetaQuery
from limnograph.services.plans.actions import ActionLog, AttemptSpan, spans_of

SECOND, HOUR = 1_000_000, 3_600_000_000
START = Micros(1_767_225_600_000_000)


def facts(*steps: tuple[int, str], plan: str = "p", first: int = 1, **more: int) -> list[PlanFact]:
    """Transitions at seconds after START."""
    return [
        PlanFact(
            plan_id=plan,
            seq=first + i,
            at=Micros(START + at * SECOND),
            state=state,
            table_uuid="u",
            action="rewrite_data_files",
            **(more if state in {"committed", "verified"} else {}),
        )
        for i, (at, state) in enumerate(steps)
    ]


RUN = ((0, "proposed"), (10, "approved"), (20, "leased"), (21, "checking"), (22, "running"))


def times(found: list[AttemptSpan]) -> list[tuple[int, int | None, str]]:
    return [
        ((each.start - START) // SECOND, None if each.end is None else (each.end - START) // SECOND, each.state)
        for each in found
    ]


def test_an_action_lasts_from_its_lease_to_its_commit_whatever_follows() -> None:
    done = facts(
        *RUN, (30, "committed"), (35, "verified"), (900, "measured"), result_files_in=2_000, result_files_out=1
    )
    assert times(spans_of(done)) == [(20, 30, "measured")]
    assert times(spans_of(done[:6])) == [(20, 30, "committed")]
    (span,) = spans_of(done[:7])
    assert (span.files_in, span.files_out) == (2_000, 1)


def test_one_that_runs_has_no_end_and_one_that_failed_ends_then() -> None:
    assert times(spans_of(facts(*RUN))) == [(20, None, "running")]
    assert times(spans_of(facts(*RUN, (40, "cancelling")))) == [(20, None, "cancelling")]
    for state in ("conflicted", "cancelled", "failed", "partly", "unknown"):
        assert times(spans_of(facts(*RUN, (50, state)))) == [(20, 50, state)]


def test_a_lease_without_an_action_is_no_span_and_each_attempt_is_one() -> None:
    assert spans_of(facts(*RUN[:4], (25, "superseded"))) == []
    again = facts(*RUN, (50, "conflicted"), (51, "queued"), (99, "leased"), (100, "running"), (120, "committed"))
    assert times(spans_of(again)) == [(20, 51, "queued"), (99, 120, "committed")]


class CountingEngine:
    """Port QueryEngine, as far as it is needed: rows of `plans`."""

    name = "counting"

    def __init__(self, rows: list[PlanFact]) -> None:
        self.rows, self.asked = rows, 0

    def select(self, query: MetaQuery) -> pl.DataFrame:
        self.asked += 1
        found = [{name: getattr(row, name) for name in query.columns} for row in self.rows]
        return pl.DataFrame(found, infer_schema_length=None)


def test_the_meta_table_is_read_once_and_the_inbox_tells_what_is_new() -> None:
    inbox, seconds = MemoryInbox(), [0.0]
    engine = CountingEngine(facts(*RUN, (30, "committed")))
    log = ActionLog(inbox, engine, lambda: seconds[0])  # type: ignore[arg-type]
    whole = (Micros(START), Micros(START + HOUR))
    assert log.of_table("u", *whole) == []
    assert engine.asked == 0, "a request asks no engine"
    log.keep_up()
    assert times(log.of_table("u", *whole)) == [(20, 30, "committed")]
    assert log.of_table("other", *whole) == []
    assert log.of_table("u", Micros(START + 31 * SECOND), whole[1]) == []

    new = facts(*RUN[2:], plan="q", first=3)
    inbox.put([InboxItem("plan", f"{fact.seq}", msgspec.json.encode(fact), fact.at or START) for fact in new])
    assert len(log.of_table("u", *whole)) == 1, "at most one look a second"
    seconds[0] += 2
    assert times(log.of_table("u", *whole)) == [(20, 30, "committed"), (20, None, "running")]
    assert engine.asked == 1
    log.keep_up()
    assert engine.asked == 1
    seconds[0] += 3_600
    log.keep_up()
    assert engine.asked == 2, "what was drained meanwhile may be gone from the inbox"
