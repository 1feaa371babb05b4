"""Recommended maintenance: the queue of the fleet, and the advice of one table. Wire structs, as
`domain/answers/tables.py`; plans, bytes and costs are the structs of the document of `limnograph advise --json`.
"""

from __future__ import annotations

from typing import Literal

from limnograph.domain.advice.comparison import TableComparison
from limnograph.domain.advice.document import AdvisedTable, Predicted, Recommendation
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

QueueState = Literal["proposed"]


class MaintenanceRow(View, frozen=True, kw_only=True):
    """One recommendation for a table. `rank`: position by value per cost among all proposed plans, from 1 (the best);
    it does not depend on filters. `evaluated_at`: facts until then were evaluated. `owner`: as in `Finding`.
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
    state: QueueState


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
    """The queue, best value per cost first. `prices_are_default`: no price is configured, so list prices apply.
    `evaluated_at`: the oldest evaluation among the rows; null: nothing has been evaluated yet. `notes`: what could not
    be read.
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
    """A plan of the table as last recorded at `at`. `state`: `proposed`, or how it ended."""

    plan_id: str
    action: str
    rule: str
    state: str
    at: Millis
    predicted: Predicted


class TableMaintenance(View, frozen=True, kw_only=True):
    """The advice of one table. `advice`: null until the table has been evaluated; `problem` then says why. `writer` and
    `writer_job`: the application and the job that write the files the recommendations are about; null if unknown.
    `comparison`: its cost after maintenance; null until the table has been evaluated. `plans`: recorded plans, newest
    first. `notes`: what could not be read.
    """

    advice: AdvisedTable | None
    evaluated_at: Millis | None
    writer: str | None
    writer_job: str | None
    problem: str | None
    prices_are_default: bool
    comparison: TableComparison | None
    plans: list[PlanRecord]
    notes: list[str]
