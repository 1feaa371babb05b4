"""The fleet over time by risk: for each table and part of a range, the reason that the list would show for that part
alone, as far as metadata allows. The pace of jobs is not queried per part.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import get_args

import numpy as np

from limnograph.domain.answers.tables import ReasonCode
from limnograph.domain.time import Micros
from limnograph.services.fleet.attention import Attention
from limnograph.services.fleet.heat import edges
from limnograph.services.fleet.move_columns import MoveColumns
from limnograph.services.fleet.reasons import RANK
from limnograph.services.fleet.state_vectors import StateVectorCache
from limnograph.services.lake.columns import NULL, Ints
from limnograph.services.lake.history import History
from limnograph.services.lake.table import HotTable

Span = tuple[Micros, Micros]
_CODES: tuple[ReasonCode, ...] = get_args(ReasonCode)


def risks(
    attention: Attention,
    columns: MoveColumns,
    tables: Sequence[HotTable | None],
    slots: Ints,
    *,
    unread: Ints,
    span: Span,
) -> list[list[ReasonCode | None]]:
    """Reasons per table and part, in the order of the tables; null where unknown. `unread`: the first unknown part of
    each table.
    """
    there = np.flatnonzero(slots >= 0)
    known = [table for table in tables if table is not None]
    between, ranks = edges(span), np.full((len(slots), len(edges(span)) - 1), NULL)
    standings = StateVectorCache(columns)
    for part, ends in enumerate(pairwise(between.tolist())):
        found = attention.of(standings, known, slots[there], ends, {}).ranks
        after = standings.at(known, ends[1] - 1, ends[1] - 1, slots[there])
        ranks[there, part] = np.where((after.moved == NULL) & (found == RANK["none"]), NULL, found)
    for place, table in zip(there.tolist(), known, strict=True):
        change = History(table).unreadable if table.unreadable else None
        if change is not None:  # reasons before it became unreadable are unknown
            ranks[place, between[1:] <= change.at] = NULL
    ranks[np.arange(ranks.shape[1]) >= unread[:, None]] = NULL
    return [[None if rank == NULL else _CODES[rank] for rank in row] for row in ranks.tolist()]
