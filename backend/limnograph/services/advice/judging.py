"""Judges one observed table: reads its files, and applies the rules with everything else that is known of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from limnograph.analysis.advice.facts import ReadLoad
from limnograph.analysis.advice.own_retention import own_retention_of, refs_of
from limnograph.analysis.advice.readers import ReaderNeed
from limnograph.analysis.advice.returning import debt_half_lives
from limnograph.analysis.findings.facts import TableFacts
from limnograph.domain.advice.document import BORROWED
from limnograph.domain.advice.prices import Prices
from limnograph.domain.errors import MetadataError
from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros, to_millis
from limnograph.ports.advice_source import AdviceSource
from limnograph.ports.query_engine import QueryEngine
from limnograph.services.advice.board import TableAdvice
from limnograph.services.advice.findings import advised_findings
from limnograph.services.advice.table_advice import KnownOfTable, advise_table
from limnograph.services.findings.board import FindingsBoard
from limnograph.services.findings.table_facts import facts_of
from limnograph.services.lake.history import History
from limnograph.services.table.due import due_of, located


class SavedTimes(Protocol):
    """Seconds per day that actions were measured to save."""

    def of_table(self, table_uuid: str) -> Mapping[str, tuple[float, str]]:
        """By rule, with the basis."""
        ...


class AdviceInputs(NamedTuple):
    """What is known of tables besides their files.

    loads    how often a table is read; None: not known
    readers  what readers of a table need; None: not known
    jobs     the job that writes with an application name; None: not known
    trino    name of a catalog in Trino, by its name here
    """

    findings: Callable[[], FindingsBoard]
    loads: Callable[[str, TableName], ReadLoad | None]
    saved: SavedTimes
    readers: Callable[[str, TableName], Sequence[ReaderNeed] | None] = lambda _uuid, _name: None
    jobs: Callable[[TableName, str], str | None] = lambda _name, _writer: None
    prices: Prices = Prices()
    trino: Mapping[str, str] = {}


class JudgedAdvice(NamedTuple):
    """Advice, and the exact arguments of its plans as JSON, by plan id."""

    advice: TableAdvice
    arguments: Mapping[str, bytes]


class TableJudge(NamedTuple):
    """`source`: reads tables; `engine`: the meta tables, for their newest metadata files."""

    source: AdviceSource
    inputs: AdviceInputs
    engine: QueryEngine

    def judge(self, uuid: str, name: TableName, history: History, now: Micros) -> JudgedAdvice:
        """Read and judge a table. Blocks. Raises MetadataError, SourceError."""
        location = located(self.engine, history)
        if location is None:
            raise MetadataError("no_metadata", "no readable metadata of the table is known")
        inputs = self.inputs
        reading = self.source.read(due_of(name, history, location), to_millis(now))
        facts, reads = facts_of(history.table), inputs.loads(uuid, name)
        writer = _main_writer(facts)
        known = KnownOfTable(
            name=name,
            findings=advised_findings(inputs.findings().by_table.get(uuid, ())),
            returns=debt_half_lives(facts),
            reads=reads,
            readers=inputs.readers(uuid, name),
            saved=_of_read_table(inputs.saved.of_table(uuid), reads),
            trino_catalog=inputs.trino.get(name.catalog),
        )
        judged = advise_table(reading, known, inputs.prices)
        job = inputs.jobs(name, writer) if writer else None
        metadata = reading.metadata
        advice = TableAdvice(
            *(judged.advised, location, to_millis(now), own_retention_of(metadata), refs_of(metadata), writer, job),
            load=judged.load,
            reads=reads,
        )
        return JudgedAdvice(advice, judged.arguments)


def _of_read_table(saved: Mapping[str, tuple[float, str]], reads: ReadLoad | None) -> Mapping[str, tuple[float, str]]:
    """A table of which no read is known has nothing to save: it borrows no time from others."""
    return saved if reads is not None else {rule: each for rule, each in saved.items() if each[1] != BORROWED}


def _main_writer(facts: TableFacts) -> str | None:
    """Who added most data files lately, without rewrites."""
    files = np.where(facts.replaced, 0, np.nan_to_num(facts.numbers("added_data_files")))
    if not files.any():
        return None
    return facts.writers.names[int(np.bincount(facts.writers.codes, files).argmax())]
