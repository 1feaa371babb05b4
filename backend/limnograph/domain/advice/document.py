"""The document of `limnograph advise --json`: a contract. No field is ever renamed or omitted; unknown values are null.

Instants are epoch milliseconds, sizes bytes, money is in `currency`.
"""

from __future__ import annotations

import msgspec

from limnograph.domain.time import Millis


class _Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the document."""


class Estimate(_Part, frozen=True, kw_only=True):
    """A value with bounds that should contain the actual one in 90 % of the cases."""

    low: float
    mid: float
    high: float


class AdvisedFinding(_Part, frozen=True, kw_only=True):
    """An open finding of the table."""

    code: str
    severity: str
    subject: str
    opened_at: Millis
    evidence: dict[str, str]


class PlanScope(_Part, frozen=True, kw_only=True):
    """Where the plan acts. `partitions`: texts such as `day=2026-11-20`; empty: the whole table. `where`: the condition
    of the statement for Spark; null: the whole table, or no exact condition exists.
    """

    partitions: list[str]
    where: str | None


class Predicted(_Part, frozen=True, kw_only=True):
    """What the plan would do. Null: unknown, or not applicable to the action. `bytes_freed`: by an expiry, or a removal
    of orphans; what a rewrite replaces is freed only when its old snapshots expire.
    """

    files_in: int | None = None
    files_out: int | None = None
    bytes_in: int | None = None
    bytes_out: int | None = None
    bytes_freed: int | None = None
    seconds: Estimate | None = None
    cost: Estimate | None = None


MEASURED, BORROWED = "measured", "borrowed"


class SavedTime(_Part, frozen=True, kw_only=True):
    """Seconds of jobs saved per day. `basis`: `measured` (effects of this table), or `borrowed` (the median of
    those of the same rule on other tables).
    """

    mid: float
    basis: str


class PlanValue(_Part, frozen=True, kw_only=True):
    """What the plan saves. Null: unknown."""

    seconds_per_day: SavedTime | None = None
    money_per_month: float | None = None
    payback_days: float | None = None


class PlanGuard(_Part, frozen=True, kw_only=True):
    """A condition that must hold before the plan may run. `text`: a sentence for users."""

    code: str
    ok: bool
    text: str


class StatementTexts(_Part, frozen=True, kw_only=True):
    """The plan as a statement of each engine; null if the engine cannot do it, or a name cannot be written safely."""

    spark: str | None = None
    trino: str | None = None
    python: str | None = None


class Recommendation(_Part, frozen=True, kw_only=True):
    """An action that would pay, with exact arguments. `because`: codes of findings that it resolves."""

    plan_id: str
    action: str
    rule: str
    because: list[str]
    scope: PlanScope
    predicted: Predicted
    value: PlanValue
    guards: list[PlanGuard]
    statements: StatementTexts


class NotWorth(_Part, frozen=True, kw_only=True):
    """A rule whose action would not pay, with the reason as a sentence with numbers."""

    rule: str
    text: str


class NotKnown(_Part, frozen=True, kw_only=True):
    """A rule without an answer. `missing`: the missing facts as a phrase."""

    rule: str
    missing: str


class TableBytes(_Part, frozen=True, kw_only=True):
    """Bytes of a table's files, each file counted once; a deletion vector counts with its blob.

    live      data and delete files of main's current snapshot
    held      what retained snapshots reach and main's current snapshot does not
    metadata  metadata files, manifest lists and manifests
    by_ref    what a branch or tag reaches, and neither main's head nor another branch or tag
    by_age    `[days, bytes]`: freed if all snapshots expire that are older and not referenced by a branch or tag
    """

    live: int
    held: int
    metadata: int
    by_ref: dict[str, int]
    by_age: list[tuple[int, int]]


class MonthlyCost(_Part, frozen=True, kw_only=True):
    """Cost of a month of 30 days; null: unknown. `held` is part of neither `storage` (live files and metadata) nor
    `requests`.
    """

    storage: float | None
    held: float | None
    requests: float | None
    total: float | None


class AdvisedTable(_Part, frozen=True, kw_only=True):
    """One table. `catalog`, `namespace` and `table` are null for a LOCATION without a catalog. `status`: `ok`,
    `partial` or `unreadable`.
    """

    catalog: str | None
    namespace: str | None
    table: str | None
    table_uuid: str | None
    format: str | None
    snapshot_id: str | None
    status: str
    findings: list[AdvisedFinding]
    recommendations: list[Recommendation]
    not_worth: list[NotWorth]
    not_known: list[NotKnown]
    bytes: TableBytes | None
    cost_per_month: MonthlyCost | None
    currency: str
    prices_as_of: str | None


class Advice(_Part, frozen=True, kw_only=True):
    """The document. `generated_at`: the wall clock; `evaluated_at`: the instant for which tables are judged."""

    generated_at: Millis
    evaluated_at: Millis
    tables: list[AdvisedTable]
