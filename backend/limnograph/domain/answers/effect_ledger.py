"""The effect ledger: what maintenance operations did to jobs. Wire structs, as `domain/answers/tables.py`."""

from __future__ import annotations

from typing import Literal

from limnograph.domain.advice.document import Predicted
from limnograph.domain.advice.plans import PlanResult
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

Measure = Literal["duration", "planning", "files"]
LedgerVerdict = Literal["helped", "worse", "none", "unknown", "confounded", "not_separable", "no_data_yet"]
"""`no_data_yet`: fewer than eight runs have ended since the operation, so nothing was measured."""


class LedgerPlan(View, frozen=True, kw_only=True):
    """The plan that caused an operation. `promised`: as it was approved; `confirmed`: what the table confirmed, null if
    that is not known. Costs are in `currency`.
    """

    plan_id: str
    attempt: int | None
    rule: str
    promised: Predicted
    confirmed: PlanResult | None
    currency: str | None


class LedgerRow(View, frozen=True, kw_only=True):
    """One operation and one job (or all scans of the table, if `job_name` is empty) by one measure: the newest
    measurement. Bounds at 95 %; null: unbounded. `change` is in seconds, or in files for measure `files`. `runs_after`:
    runs since the operation that were measured, or that are known so far if there is `no_data_yet` (null: unknown).
    `snapshot_id`: of a commit, null for an expiry. `owner`: of the table, as in `Finding`. `plan`: null if no plan of
    Limnograph caused the operation.
    """

    catalog: str | None
    namespace: str | None
    table: str | None
    table_uuid: str
    operation_id: str
    snapshot_id: str | None
    action: str | None
    writer: str | None
    owner: str | None
    committed_at: Millis
    job_name: str
    measure: Measure
    verdict: LedgerVerdict
    because: str
    ratio: float | None
    ratio_low: float | None
    ratio_high: float | None
    change: float | None
    change_low: float | None
    change_high: float | None
    runs_before: int | None
    runs_after: int | None
    more_runs: int | None
    controls: int | None
    others: list[str]
    measured_at: Millis | None
    plan: LedgerPlan | None


class LedgerCounts(View, frozen=True, kw_only=True):
    """Number of rows by verdict, regardless of the filter `verdict`."""

    helped: int
    worse: int
    none: int
    unknown: int
    confounded: int
    not_separable: int
    no_data_yet: int


class LedgerCoverage(View, frozen=True, kw_only=True):
    """The self-check: of `cuts` in the history of the measured jobs, where nothing was done, the bounds at 95 % of
    `covered` contained no change.
    """

    cuts: int
    covered: int


class LedgerChoices(View, frozen=True, kw_only=True):
    """Values of the filters that have rows, sorted."""

    tables: list[str]
    owners: list[str]
    actions: list[str]
    writers: list[str]
    jobs: list[str]


class LedgerPage(View, frozen=True, kw_only=True):
    """The ledger, newest operation first. `since`: operations before this instant are not included. `notes`: what could
    not be read.
    """

    rows: list[LedgerRow]
    counts: LedgerCounts
    coverage: LedgerCoverage
    choices: LedgerChoices
    since: Millis
    watermark: Millis | None
    notes: list[str]
    next_cursor: str | None
