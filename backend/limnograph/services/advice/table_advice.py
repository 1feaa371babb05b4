"""One table's part of the document: findings, recommendations, bytes and cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from limnograph.analysis.advice.facts import AdviceFacts, PlanLimits, ReadLoad, UnlistedFile
from limnograph.analysis.advice.money import monthly_cost
from limnograph.analysis.advice.open_ends import open_ends
from limnograph.analysis.advice.planned import PlannedAction, arguments_json, plan_id
from limnograph.analysis.advice.readers import ReaderNeed
from limnograph.analysis.advice.recommendation import not_known, not_worth, recommendations
from limnograph.analysis.advice.rules import RULES, answers, compacted_files, plans_first
from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.domain.advice.comparison import TableLoad
from limnograph.domain.advice.document import AdvisedFinding, AdvisedTable, Estimate
from limnograph.domain.advice.prices import Prices
from limnograph.domain.advice.reading import AdviceReading
from limnograph.domain.ids import TableName

SURVEYED = frozenset({"iceberg", "delta"})


class KnownOfTable(NamedTuple):
    """What is known of a table besides its own files. None: not known.

    name     None: a location
    returns  half-lives of the debt, see `debt_half_lives`
    saved    seconds per day that an action saves jobs, with its basis, by rule
    unreferenced  files below its location that no snapshot references
    """

    name: TableName | None = None
    findings: Sequence[AdvisedFinding] = ()
    returns: Sequence[float] = ()
    reads: ReadLoad | None = None
    readers: Sequence[ReaderNeed] | None = None
    saved: Mapping[str, tuple[float, str]] = {}
    trino_catalog: str | None = None
    unreferenced: Sequence[UnlistedFile] | None = None


class JudgedTable(NamedTuple):
    """The document's part of a table; by plan id, its plans, their exact arguments as JSON, and the bounds of
    `predicted.bytes_out`, for which the document has one number; the files that its scans open.
    """

    advised: AdvisedTable
    arguments: Mapping[str, bytes]
    bytes_out: Mapping[str, Estimate]
    plans: Mapping[str, PlannedAction]
    load: TableLoad


def advise_table(
    reading: AdviceReading,
    known: KnownOfTable,
    prices: Prices,
    limits: PlanLimits = PlanLimits(),  # noqa: B008  # immutable
) -> JudgedTable:
    """Apply the rules within the limits of a policy. `reading` must have been read with the retention of `limits`.
    O(groups of the survey + snapshots).
    """
    metadata, survey, held = reading.metadata, reading.survey, reading.held
    facts = AdviceFacts(
        metadata,
        reading.now,
        survey=survey,
        unread=reading.unread,
        held=held.bytes if held else None,
        unsummed=reading.unsummed,
        freed=held.freed if held else None,
        removable=held.removable if held else None,
        codes=[finding.code for finding in known.findings],
        reads=known.reads,
        readers=known.readers,
        saved=known.saved,
        returns=known.returns,
        unreferenced=known.unreferenced,
        limits=limits,
        prices=prices,
    )
    name = known.name
    found = answers(facts, RULES.get(metadata.format, ()))
    every = [*found, *open_ends(facts, found)]
    load = TableLoad(
        live_files=survey.data_files if survey else None,
        compacted_files=compacted_files(facts),
        reads_per_day=None if known.reads is None else known.reads.scans_per_day,
    )
    advised = AdvisedTable(
        catalog=name.catalog if name else None,
        namespace=name.namespace if name else None,
        table=name.table if name else None,
        table_uuid=metadata.table_uuid,
        format=metadata.format,
        snapshot_id=None if metadata.head_id is None else str(metadata.head_id),
        status="partial" if metadata.problems or _is_unread(reading) else "ok",
        findings=list(known.findings),
        recommendations=recommendations(facts, found, statement_table(metadata.location, name, known.trino_catalog)),
        not_worth=not_worth(every),
        not_known=not_known(facts, every),
        bytes=facts.bytes,
        cost_per_month=monthly_cost(facts.bytes, load.live_files, load.reads_per_day, prices),
        currency=prices.currency,
        prices_as_of=prices.as_of,
    )
    plans = {plan_id(metadata.table_uuid, plan): plan for plan in plans_first(found)}
    arguments = {identity: arguments_json(plan) for identity, plan in plans.items()}
    bounds = {identity: plan.bytes_out for identity, plan in plans.items() if plan.bytes_out is not None}
    return JudgedTable(advised, arguments, bounds, plans, load)


def _is_unread(reading: AdviceReading) -> bool:
    """Whether the current files should have been read, but could not be. Hudi has no plans that need them."""
    return reading.metadata.format in SURVEYED and reading.metadata.head_id is not None and reading.survey is None


def statement_table(location: str, name: TableName | None, trino_catalog: str | None) -> StatementTable:
    """How statements address the table."""
    if name is None:
        return StatementTable(None, (), None, location)
    return StatementTable(name.catalog, name.levels, name.table, location, trino_catalog)


def unreadable(
    location_format: str | None,
    prices: Prices,
    name: TableName | None = None,
    findings: Sequence[AdvisedFinding] = (),
) -> AdvisedTable:
    """A table that could not be read."""
    return AdvisedTable(
        catalog=name.catalog if name else None,
        namespace=name.namespace if name else None,
        table=name.table if name else None,
        table_uuid=None,
        format=location_format,
        snapshot_id=None,
        status="unreadable",
        findings=list(findings),
        recommendations=[],
        not_worth=[],
        not_known=[],
        bytes=None,
        cost_per_month=None,
        currency=prices.currency,
        prices_as_of=prices.as_of,
    )
