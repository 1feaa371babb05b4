"""What was wrong with a table, from when until when: rows of the meta table `findings`. The server evaluates them and
stores them in the inbox; the pipeline appends them.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from limnograph.domain.facts.columns import (
    DOUBLE,
    LONG,
    STRING,
    TIMESTAMPTZ,
    Col,
    ListOf,
    MapOf,
    StructOf,
    columns_of,
)
from limnograph.domain.time import Micros


class FindingEffectFact(msgspec.Struct, frozen=True, kw_only=True):
    """What a finding did to one job; element of `FindingFact.effects`."""

    job_name: Annotated[str | None, Col(26, STRING, "job that reads the table")] = None
    verdict: Annotated[
        str | None, Col(27, STRING, "`slower`, `faster`, `none`, `unknown` or `no_data_yet`; see findings.md")
    ] = None
    because: Annotated[str | None, Col(28, STRING, "reason for the verdict")] = None
    ratio: Annotated[float | None, Col(29, DOUBLE, "duration since / expected duration without it")] = None
    ratio_low: Annotated[float | None, Col(30, DOUBLE, "lower bound of `ratio`, at 95 %; null: unbounded")] = None
    ratio_high: Annotated[float | None, Col(31, DOUBLE, "upper bound of `ratio`")] = None
    seconds: Annotated[float | None, Col(32, DOUBLE, "typical difference per run, seconds")] = None
    runs: Annotated[int | None, Col(33, LONG, "runs since that ended")] = None
    since: Annotated[Micros | None, Col(34, TIMESTAMPTZ, "commit after which runs are counted")] = None
    last_run_at: Annotated[Micros | None, Col(35, TIMESTAMPTZ, "end of the job's last known run")] = None


class FindingFact(msgspec.Struct, frozen=True, kw_only=True):
    """One transition of a finding; key `(finding_id, seq)`. The row with the largest `seq` is the finding's state."""

    finding_id: Annotated[
        str, Col(1, STRING, "identity, from the table, the code, the subject and the first recorded `opened_at`", True)
    ]
    seq: Annotated[int, Col(2, LONG, "number of the transition, from 1", True)]
    at: Annotated[Micros | None, Col(3, TIMESTAMPTZ, "when the finding opened, changed or closed")] = None
    table_uuid: Annotated[str | None, Col(4, STRING, "identity of the table's history")] = None
    catalog: Annotated[str | None, Col(5, STRING, "catalog of the table")] = None
    namespace: Annotated[str | None, Col(6, STRING, "namespace levels joined with `.`")] = None
    table: Annotated[str | None, Col(7, STRING, "table name")] = None
    code: Annotated[str | None, Col(8, STRING, "what is wrong, see findings.md")] = None
    subject: Annotated[str | None, Col(9, STRING, "partition, column, ref or job; empty: the table")] = None
    state: Annotated[str | None, Col(10, STRING, "`open` or `closed`")] = None
    severity: Annotated[str | None, Col(11, STRING, "`critical`, `warning` or `info`")] = None
    opened_at: Annotated[Micros | None, Col(12, TIMESTAMPTZ, "when the condition began")] = None
    closed_at: Annotated[Micros | None, Col(13, TIMESTAMPTZ, "when it ended; null while open")] = None
    closed_by: Annotated[
        str | None,
        Col(
            14,
            STRING,
            "snapshot id that ended it, or `run`, `expired`, `merged`, `retracted`, `retired`; null while open",
        ),
    ] = None
    cause_snapshot_ids: Annotated[
        list[int] | None, Col(15, ListOf(16, LONG), "commits that caused it; null: unknown")
    ] = None
    cause_writer: Annotated[str | None, Col(17, STRING, "application that caused it, or most of it")] = None
    cause_share: Annotated[float | None, Col(18, DOUBLE, "share of the cause that is this application's")] = None
    evidence: Annotated[
        dict[str, str] | None, Col(19, MapOf(20, 21, STRING, STRING), "counts and shares by name, when it was recorded")
    ] = None
    effects: Annotated[
        list[FindingEffectFact] | None,
        Col(24, ListOf(25, StructOf(columns_of(FindingEffectFact))), "what it did to jobs that read the table"),
    ] = None
    evaluated_at: Annotated[Micros | None, Col(22, TIMESTAMPTZ, "facts up to this instant were evaluated")] = None
    observed_at: Annotated[Micros | None, Col(23, TIMESTAMPTZ, "when the row was written")] = None
