"""Transitions of maintenance plans: rows of the meta table `plans`. The server and the executor record them in the
inbox's database; the pipeline appends them.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import DOUBLE, LONG, STRING, TIMESTAMPTZ, Col, ListOf
from limnograph.domain.time import Micros


class PlanFact(msgspec.Struct, frozen=True, kw_only=True):
    """One transition; key `(plan_id, seq)`."""

    plan_id: Annotated[
        str,
        Col(1, STRING, "first 32 hex digits of SHA-256 over table uuid, action, rule and `arguments_sha256`", True),
    ]
    seq: Annotated[int, Col(2, LONG, "number of the transition, from 1", True)]
    at: Annotated[Micros | None, Col(3, TIMESTAMPTZ, "when it took place")] = None
    state: Annotated[
        str | None,
        Col(
            4,
            STRING,
            "state that it entered, such as `proposed`, `approved`, `verified` ([maintenance](maintenance.md))",
        ),
    ] = None
    attempt: Annotated[int | None, Col(5, LONG, "how often the same plan was proposed, from 1")] = None
    table_uuid: Annotated[str | None, Col(6, STRING, "identity of the table's history")] = None
    catalog: Annotated[str | None, Col(7, STRING, "catalog of the table when it was proposed")] = None
    namespace: Annotated[str | None, Col(8, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(9, STRING, "table name")] = None
    format: Annotated[str | None, Col(10, STRING, "table format")] = None
    action: Annotated[str | None, Col(11, STRING, "procedure, such as `rewrite_data_files`")] = None
    rule: Annotated[str | None, Col(12, STRING, "rule that recommends it, such as `compact`")] = None
    because: Annotated[list[str] | None, Col(13, ListOf(14, STRING), "codes of the findings that it resolves")] = None
    base_snapshot_id: Annotated[int | None, Col(15, LONG, "main's head for which it was planned")] = None
    arguments: Annotated[
        str | None, Col(16, STRING, "exact arguments as JSON; lists of files as number, bytes and digest")
    ] = None
    arguments_sha256: Annotated[str | None, Col(17, STRING, "SHA-256 of `arguments`; an approval binds to it")] = None
    statement: Annotated[str | None, Col(18, STRING, "statement for Spark; null: there is none")] = None
    files_in: Annotated[int | None, Col(19, LONG, "files that it would read and replace")] = None
    files_out: Annotated[int | None, Col(20, LONG, "files that it would write")] = None
    bytes_in: Annotated[int | None, Col(21, LONG, "bytes of the replaced files")] = None
    bytes_out: Annotated[int | None, Col(22, LONG, "bytes of the written files, estimated")] = None
    bytes_freed: Annotated[int | None, Col(23, LONG, "bytes of files that it would delete")] = None
    seconds_low: Annotated[float | None, Col(24, DOUBLE, "lower bound of its duration, seconds")] = None
    seconds_mid: Annotated[float | None, Col(25, DOUBLE, "estimated duration, seconds")] = None
    seconds_high: Annotated[float | None, Col(26, DOUBLE, "upper bound of its duration, seconds")] = None
    cost_low: Annotated[float | None, Col(27, DOUBLE, "lower bound of its cost, in `currency`")] = None
    cost_mid: Annotated[float | None, Col(28, DOUBLE, "estimated cost, in `currency`")] = None
    cost_high: Annotated[float | None, Col(29, DOUBLE, "upper bound of its cost, in `currency`")] = None
    saved_per_month: Annotated[float | None, Col(30, DOUBLE, "money that it saves in a month, in `currency`")] = None
    currency: Annotated[str | None, Col(31, STRING, "currency of the prices")] = None
    guards: Annotated[list[str] | None, Col(32, ListOf(33, STRING), "codes of the guards that were not satisfied")] = (
        None
    )
    observed_at: Annotated[Micros | None, Col(34, TIMESTAMPTZ, "when the server recorded it")] = None
    actor: Annotated[
        str | None,
        Col(35, STRING, "who caused it: a user, `policy:NAME`, or `limnograph` for the rules and the executor"),
    ] = None
    reason: Annotated[str | None, Col(36, STRING, "what the user wrote, or why the program did it")] = None
    policy: Annotated[str | None, Col(37, STRING, "name of the policy that the executor applied")] = None
    problem: Annotated[str | None, Col(38, STRING, "code of what stopped it, such as a guard's; null: nothing")] = None
    base_metadata_location: Annotated[str | None, Col(39, STRING, "metadata file that the executor opened")] = None
    executor_id: Annotated[str | None, Col(40, STRING, "process that holds or held the table's lease")] = None
    application_id: Annotated[str | None, Col(41, STRING, "Spark application of the action")] = None
    not_before: Annotated[Micros | None, Col(42, TIMESTAMPTZ, "a queued plan is not retried earlier")] = None
    result_files_in: Annotated[int | None, Col(43, LONG, "files that its commits replaced")] = None
    result_files_out: Annotated[int | None, Col(44, LONG, "files that its commits added")] = None
    result_bytes_in: Annotated[int | None, Col(45, LONG, "bytes of the replaced files")] = None
    result_bytes_out: Annotated[int | None, Col(46, LONG, "bytes of the added files")] = None
    result_bytes_freed: Annotated[int | None, Col(47, LONG, "bytes of the deleted files")] = None
    result_seconds: Annotated[float | None, Col(48, DOUBLE, "duration from lease to commit, seconds")] = None
    result_cost: Annotated[float | None, Col(49, DOUBLE, "cost at the prices of the executor, in `currency`")] = None
    snapshot_ids: Annotated[
        list[int] | None, Col(50, ListOf(51, LONG), "snapshots that carry its stamp (Delta: versions)")
    ] = None
    left_behind_files: Annotated[int | None, Col(52, LONG, "unreferenced files that it left")] = None
    left_behind_bytes: Annotated[int | None, Col(53, LONG, "bytes of these files")] = None
    writers_failed: Annotated[int | None, Col(54, LONG, "runs of other jobs that failed because of its commits")] = None
    proposed_by: Annotated[
        str | None, Col(55, STRING, "who proposed this attempt: a user, or `limnograph` for the rules and the executor")
    ] = None
    approved_by: Annotated[
        str | None, Col(56, STRING, "who approved this attempt: a user, or `policy:NAME`; null: not approved")
    ] = None
    approved_at: Annotated[
        Micros | None, Col(57, TIMESTAMPTZ, "when this attempt was approved; a plan that is queued again keeps it")
    ] = None
