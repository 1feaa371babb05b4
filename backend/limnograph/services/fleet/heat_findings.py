"""The fleet over time by findings: for each table and part of a range, the most severe finding that was open then."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from limnograph.domain.answers.tables import ReasonCode
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.finding_codes import UNSHOWN, severity_rank
from limnograph.domain.ids import TableName
from limnograph.domain.time import EPOCH, Micros
from limnograph.services.findings.board import FindingsBoard, key_of_name
from limnograph.services.fleet.reasons import CODES
from limnograph.services.lake.columns import Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable


def risks(
    board: FindingsBoard,
    names: Sequence[TableName],
    tables: Sequence[HotTable | None],
    *,
    unread: Ints,
    edges: Sequence[int],
) -> list[list[ReasonCode | None]]:
    """Codes per table and part, in the order of the tables; null where unknown. `unread`: the first unknown part of
    each table. `edges`: of the parts, epoch microseconds. O(findings of these tables).
    """
    found = []
    for name, table, known in zip(names, tables, unread.tolist(), strict=True):
        key = table.uuid if table is not None else key_of_name(name)
        facts = sorted(board.by_table.get(key, ()), key=lambda fact: severity_rank(fact.severity))
        first = _first_known(table)
        row: list[ReasonCode | None] = []
        for part, (begin, end) in enumerate(pairwise(map(Micros, edges))):
            unknown = part >= known or end <= first or not board.is_evaluated(key)
            row.append(None if unknown else _code(facts, begin, end))
        found.append(row)
    return found


def _first_known(table: HotTable | None) -> Micros:
    """Nothing is known of a table before its first move in memory."""
    if table is None:
        return EPOCH
    times = History(table).moves
    return Micros(int(times[0])) if len(times) else EPOCH


def _code(facts: Sequence[FindingFact], begin: Micros, end: Micros) -> ReasonCode:
    for fact in facts:
        opened, closed = fact.opened_at or EPOCH, fact.closed_at
        told = fact.closed_by not in UNSHOWN
        if told and opened < end and (closed is None or closed > begin) and fact.code in CODES:
            return CODES[fact.code]
    return "none"
