"""Recommended maintenance: the queue of the fleet, and the advice of one table. Wire structs, as
`domain/answers/tables.py`; plans, bytes and costs are the structs of the document of `limnograph advise --json`.
"""

from __future__ import annotations

from limnograph.domain.advice.document import AdvisedTable, Predicted, Recommendation
from limnograph.domain.answers.view import View
from limnograph.domain.maintenance.states import PlanState
from limnograph.domain.time import Millis


class MaintenanceRow(View, frozen=True, kw_only=True):
    """One plan for a table. `rank`: position by value per cost among all recommended plans, from 1 (the best), then
    those that the rules no longer recommend; it does not depend on filters. `evaluated_at`: facts until then were
    evaluated. `owner`: as in `Finding`. `seq`, `entered_at`, `actor`: number, time and cause of the last transition, as
    in `PlanView`; null until the plan is recorded, and, except `seq`, for a recommended plan that ended before.
    """

    catalog: str
    namespace: str
    table: str
    table_uuid: str
    owner: str | None
    format: str
    rank: int
    evaluated_at: Millis
    recommendation: Recommendation
    state: PlanState
    seq: int | None
    arguments_sha256: str | None
    entered_at: Millis | None
    actor: str | None


class MaintenanceCounts(View, frozen=True, kw_only=True):
    """Number of rules by answer over the tables that match the filters `owner` and `q`."""

    recommended: int
    not_worth: int
    not_known: int


class MaintenanceTotals(View, frozen=True, kw_only=True):
    """Sums over the tables that match. `saved_per_month` and `cost`: of the recommended plans, in `currency`;
    `held_bytes` and `cost_per_month`: of the tables. Values that are not known are left out; null if none is known.
    """

    saved_per_month: float | None
    cost: float | None
    held_bytes: int | None
    cost_per_month: float | None


class MaintenanceChoices(View, frozen=True, kw_only=True):
    """Values of the filters that have rows, sorted."""

    rules: list[str]
    actions: list[str]
    owners: list[str]


class MaintenancePage(View, frozen=True, kw_only=True):
    """The queue: plans that the rules recommend, best value per cost first, then other recorded ones, newest first.
    `prices_are_default`: no price is configured, so list prices apply. `evaluated_at`: the oldest evaluation among the
    rows; null: nothing has been evaluated yet. `notes`: what could not be read.
    """

    rows: list[MaintenanceRow]
    counts: MaintenanceCounts
    totals: MaintenanceTotals
    choices: MaintenanceChoices
    currency: str
    prices_as_of: str | None
    prices_are_default: bool
    evaluated_at: Millis | None
    watermark: Millis | None
    notes: list[str]
    next_cursor: str | None


class PlanRecord(View, frozen=True, kw_only=True):
    """A plan of the table as last recorded at `at`. `seq`, `actor`, `problem`: as in `PlanView`."""

    plan_id: str
    action: str
    rule: str
    state: str
    at: Millis
    predicted: Predicted
    seq: int
    arguments_sha256: str | None
    actor: str | None
    problem: str | None


class TableMaintenance(View, frozen=True, kw_only=True):
    """The advice of one table. `advice`: null until the table has been evaluated; `problem` then says why. `writer` and
    `writer_job`: the application and the job that write the files the recommendations are about; null if unknown.
    `plans`: recorded plans, newest first. `notes`: what could not be read.
    """

    advice: AdvisedTable | None
    evaluated_at: Millis | None
    writer: str | None
    writer_job: str | None
    problem: str | None
    prices_are_default: bool
    plans: list[PlanRecord]
    notes: list[str]
