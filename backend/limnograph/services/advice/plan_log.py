"""Records which plans are proposed and which no longer are. A plan that is proposed again gets the next attempt."""

from __future__ import annotations

import hashlib
import logging
from collections import defaultdict
from collections.abc import Mapping

import msgspec

from limnograph.domain.advice.document import AdvisedTable, Recommendation
from limnograph.domain.errors import LimnographError
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.states import PlanState
from limnograph.domain.time import Micros
from limnograph.services.advice.plan_records import PlanRecords

_log = logging.getLogger("limnograph.advice")


class PlanLog:
    """Used by one thread at a time, except `of_table`, which returns values that never change."""

    def __init__(self, records: PlanRecords) -> None:
        self._records = records
        self._by_table: dict[str, dict[str, PlanFact]] | None = None

    def record(self, uuid: str, advised: AdvisedTable, arguments: Mapping[str, bytes], now: Micros) -> None:
        """Record the transitions that follow from an evaluation. `arguments`: as JSON, by plan id. A failure is logged
        and repaired by the next evaluation.
        """
        try:
            known = self._known().get(uuid, {})
            facts = [*_proposed(uuid, advised, arguments, known, now), *_withdrawn(advised, known, now)]
            if facts:
                self._records.put(facts, now)
                self._known()[uuid] = {**known, **{fact.plan_id: fact for fact in facts}}
        except LimnographError as error:
            self._by_table = None
            _log.warning("plans could not be recorded: %s", error)

    def of_table(self, uuid: str) -> list[PlanFact]:
        """The last transition of each plan of a table, newest first; empty until the first evaluation."""
        found = (self._by_table or {}).get(uuid, {})
        return sorted(found.values(), key=lambda fact: (-(fact.at or 0), fact.plan_id))

    def _known(self) -> dict[str, dict[str, PlanFact]]:
        if self._by_table is None:
            by_table: dict[str, dict[str, PlanFact]] = defaultdict(dict)
            for plan_id, fact in self._records.newest().items():
                by_table[fact.table_uuid or ""][plan_id] = fact
            self._by_table = by_table
        return self._by_table


def _proposed(
    uuid: str, advised: AdvisedTable, arguments: Mapping[str, bytes], known: Mapping[str, PlanFact], now: Micros
) -> list[PlanFact]:
    found = []
    for plan in advised.recommendations:
        last = known.get(plan.plan_id)
        if last is None or last.state != "proposed":
            fact = _fact(uuid, advised, plan, last, now)
            text = arguments.get(plan.plan_id, b"{}")
            digest = hashlib.sha256(text).hexdigest()
            found.append(msgspec.structs.replace(fact, arguments=text.decode(), arguments_sha256=digest))
    return found


def _withdrawn(advised: AdvisedTable, known: Mapping[str, PlanFact], now: Micros) -> list[PlanFact]:
    current = {plan.plan_id for plan in advised.recommendations}
    return [
        PlanFact(
            plan_id=fact.plan_id,
            seq=fact.seq + 1,
            at=now,
            state="withdrawn",
            attempt=fact.attempt,
            table_uuid=fact.table_uuid,
            catalog=fact.catalog,
            namespace=fact.namespace,
            table=fact.table,
            format=fact.format,
            action=fact.action,
            rule=fact.rule,
            observed_at=now,
        )
        for plan_id, fact in known.items()
        if fact.state == "proposed" and plan_id not in current
    ]


def _fact(uuid: str, advised: AdvisedTable, plan: Recommendation, last: PlanFact | None, now: Micros) -> PlanFact:
    predicted, seconds, cost = plan.predicted, plan.predicted.seconds, plan.predicted.cost
    state: PlanState = "proposed"
    return PlanFact(
        plan_id=plan.plan_id,
        seq=1 if last is None else last.seq + 1,
        at=now,
        state=state,
        attempt=1 if last is None else (last.attempt or 0) + 1,
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
        observed_at=now,
    )
