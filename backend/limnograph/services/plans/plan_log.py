"""Records what the rules recommend: plans that are proposed, and proposals that they take back. What users approved, or
an executor works on, is left alone.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from limnograph.domain.advice.document import AdvisedTable, Recommendation
from limnograph.domain.errors import LimnographError, PlanMoved
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.moves import following
from limnograph.domain.maintenance.states import PlanState
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.rebuild import PROGRAM

HOUR_US = 3_600 * MICROS_PER_SECOND
DAY_US = 24 * HOUR_US
UNDECIDED_US = 7 * DAY_US
"""How long a proposed plan waits for a decision."""
SILENT_US: Mapping[PlanState, int] = {
    "dismissed": 7 * DAY_US,
    "cancelled": 7 * DAY_US,
    "refused": DAY_US,
    "failed": DAY_US,
    "partly": DAY_US,
    "superseded": DAY_US,
    "verified": HOUR_US,
    "measured": HOUR_US,
    "withdrawn": 0,
    "expired": 0,
}
"""How long a plan with the same arguments is not proposed again, by the state in which it ended. After a success, what
the server knows of the table may be older than the commit. A plan in any other state is not proposed.
"""
_BATCH = 200
_log = logging.getLogger("limnograph.advice")


class PlanLog:
    """Used by one thread at a time, except `of_table`."""

    def __init__(self, desk: PlanDesk) -> None:
        self._desk = desk
        self._swept_at: Micros | None = None

    def record(self, uuid: str, advised: AdvisedTable, arguments: Mapping[str, bytes]) -> None:
        """Record the transitions that follow from an evaluation. `arguments`: as JSON, by plan id. A failure is logged
        and repaired by the next evaluation.
        """
        try:
            try:
                self._record(uuid, advised, arguments)
            except PlanMoved:
                # A user or another server was first: what still follows is recorded now.
                self._record(uuid, advised, arguments)
        except LimnographError as error:
            _log.warning("plans could not be recorded: %s", error)

    def sweep(self) -> int:
        """Once an hour, let undecided proposals of all tables expire, those of dropped tables too; returns their
        number.
        """
        expired = 0
        try:
            now = self._desk.now()
            if self._swept_at is not None and now - self._swept_at < HOUR_US:
                return 0
            self._swept_at = now
            old = [fact for fact in self._desk.plans(["proposed"]) if now - (fact.at or 0) >= UNDECIDED_US]
            for first in range(0, len(old), _BATCH):
                expired += self._expire(old[first : first + _BATCH])
        except LimnographError as error:
            _log.warning("undecided plans could not be listed: %s", error)
        return expired

    def of_table(self, uuid: str) -> list[PlanFact]:
        """The last transition of each plan of a table, newest first. Blocks. Raises SourceError."""
        return self._desk.plans(table_uuids=[uuid])

    def _record(self, uuid: str, advised: AdvisedTable, arguments: Mapping[str, bytes]) -> None:
        known = {fact.plan_id: fact for fact in self._desk.plans(table_uuids=[uuid])}
        facts = [*_proposed(uuid, advised, arguments, known, self._desk.now()), *_withdrawn(advised, known.values())]
        if facts:
            self._desk.record(facts)

    def _expire(self, facts: Iterable[PlanFact]) -> int:
        try:
            return len(self._desk.record([following(each, "expired", PROGRAM, "not decided on") for each in facts]))
        except PlanMoved as moved:
            _log.debug("left to the next sweep: %s", moved)
            return 0


def _proposed(
    uuid: str, advised: AdvisedTable, arguments: Mapping[str, bytes], known: Mapping[str, PlanFact], now: Micros
) -> list[PlanFact]:
    found = []
    for plan in advised.recommendations:
        last = known.get(plan.plan_id)
        if last is None or _is_due_again(last, advised, now):
            text = arguments.get(plan.plan_id, b"{}")
            fact = replace(_fact(uuid, advised, plan), arguments=text.decode())
            fact = replace(fact, arguments_sha256=hashlib.sha256(text).hexdigest())
            if last is not None:
                fact = replace(fact, seq=last.seq + 1, attempt=(last.attempt or 0) + 1)
            found.append(fact)
    return found


def _is_due_again(last: PlanFact, advised: AdvisedTable, now: Micros) -> bool:
    """Whether a recommended plan that was recorded before is proposed again."""
    silent = next((silent for state, silent in SILENT_US.items() if state == last.state), None)
    if last.state == "withdrawn" and last.actor not in {PROGRAM, None}:
        silent = SILENT_US["dismissed"]  # a user took it back
    if silent is None or now - (last.at or 0) < silent:
        return False
    return last.state not in {"verified", "measured"} or advised.snapshot_id != _text(last.base_snapshot_id)


def _text(snapshot_id: int | None) -> str | None:
    return None if snapshot_id is None else str(snapshot_id)


def _withdrawn(advised: AdvisedTable, known: Iterable[PlanFact]) -> list[PlanFact]:
    """Proposals of the rules that they no longer make. Users and policies take back their own; a table that could only
    be read in part tells nothing.
    """
    current = {plan.plan_id for plan in advised.recommendations}
    return [
        following(fact, "withdrawn", PROGRAM, "the rules no longer recommend it")
        for fact in known
        if fact.state == "proposed" and fact.plan_id not in current and is_of_rules(fact) and advised.status == "ok"
    ]


def is_of_rules(fact: PlanFact) -> bool:
    """Whether the rules of a server proposed a plan, not a user or the policy of an executor. None: an older server."""
    return fact.proposed_by in {PROGRAM, None} and fact.policy is None


def _fact(uuid: str, advised: AdvisedTable, plan: Recommendation) -> PlanFact:
    predicted, seconds, cost = plan.predicted, plan.predicted.seconds, plan.predicted.cost
    state: PlanState = "proposed"
    return PlanFact(
        plan_id=plan.plan_id,
        seq=1,
        state=state,
        attempt=1,
        table_uuid=uuid,
        catalog=advised.catalog,
        namespace=advised.namespace,
        table=advised.table,
        format=advised.format,
        action=plan.action,
        rule=plan.rule,
        because=plan.because,
        base_snapshot_id=int(advised.snapshot_id) if advised.snapshot_id else None,
        statement=plan.statements.spark,
        files_in=predicted.files_in,
        files_out=predicted.files_out,
        bytes_in=predicted.bytes_in,
        bytes_out=predicted.bytes_out,
        bytes_freed=predicted.bytes_freed,
        seconds_low=seconds.low if seconds else None,
        seconds_mid=seconds.mid if seconds else None,
        seconds_high=seconds.high if seconds else None,
        cost_low=cost.low if cost else None,
        cost_mid=cost.mid if cost else None,
        cost_high=cost.high if cost else None,
        saved_per_month=plan.value.money_per_month,
        currency=advised.currency,
        guards=[guard.code for guard in plan.guards if not guard.ok],
        actor=PROGRAM,
        proposed_by=PROGRAM,
    )
