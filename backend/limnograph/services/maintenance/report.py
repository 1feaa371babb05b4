"""What a round of the executor did, or would do: the JSON of `limnograph maintain`."""

from __future__ import annotations

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.services.maintenance.problems import IS_FAILURE


class PlanReport(msgspec.Struct, frozen=True, kw_only=True):
    """One plan: what became of it, and why. Null: unknown, or not applicable. `text`: a sentence. `would`: of a plan
    that did not run: `run`, `wait`, `refuse` or `advise`.
    """

    id: str
    table: str
    action: str
    rule: str
    state: str | None
    policy: str | None
    files_in: int | None = None
    files_out: int | None = None
    bytes_in: int | None = None
    bytes_out: int | None = None
    bytes_freed: int | None = None
    seconds: float | None = None
    snapshot_ids: list[str] = []
    left_behind_files: int | None = None
    problem: str | None = None
    text: str | None = None
    would: str | None = None

    @property
    def failed(self) -> bool:
        """Whether the program must report a failure."""
        return self.state in IS_FAILURE


class UnplannedRule(msgspec.Struct, frozen=True, kw_only=True):
    """A rule of a table without a plan, and why. `problem`: `not_worth` or `not_known`."""

    table: str
    rule: str
    problem: str
    text: str


class TableTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """A table or catalog that could not be read, opened or listed."""

    table: str
    text: str


class RoundReport(msgspec.Struct, kw_only=True):
    """Used by one thread. One round: over all tables, or those of waiting plans.

    tables     looked at
    recovered  plans that another or an earlier executor left
    expired    plans that no one decided on
    """

    tables: int = 0
    recovered: int = 0
    expired: int = 0
    plans: list[PlanReport] = []
    unplanned: list[UnplannedRule] = []
    troubles: list[TableTrouble] = []
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether an action or a verification failed, or a table could not be read."""
        return bool(self.troubles) or any(plan.failed for plan in self.plans)

    def merge(self, other: RoundReport) -> None:
        """Add what was done with another table."""
        self.tables += other.tables
        self.plans += other.plans
        self.unplanned += other.unplanned
        self.troubles += other.troubles

    def trouble(self, table: str, error: object) -> None:
        """Note what could not be read. It does not stop the others."""
        self.troubles.append(TableTrouble(table=table, text=str(error)))


def report_of(fact: PlanFact, name: TableName, text: str | None = None, would: str | None = None) -> PlanReport:
    """A plan as it was recorded last. Numbers are those of the result, or the predicted ones before there is one."""
    has_result = fact.result_files_in is not None or fact.result_bytes_freed is not None
    return PlanReport(
        id=fact.plan_id,
        table=str(name),
        action=fact.action or "",
        rule=fact.rule or "",
        state=fact.state,
        policy=fact.policy,
        files_in=fact.result_files_in if has_result else fact.files_in,
        files_out=fact.result_files_out if has_result else fact.files_out,
        bytes_in=fact.result_bytes_in if has_result else fact.bytes_in,
        bytes_out=fact.result_bytes_out if has_result else fact.bytes_out,
        bytes_freed=fact.result_bytes_freed if has_result else fact.bytes_freed,
        seconds=fact.result_seconds,
        snapshot_ids=[str(each) for each in fact.snapshot_ids or ()],
        left_behind_files=fact.left_behind_files,
        problem=fact.problem,
        text=text or fact.reason,
        would=would,
    )
