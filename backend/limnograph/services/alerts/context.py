"""What other rooms know of the tables that alerts are about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from limnograph.domain.answers.commits import CommitsPage
from limnograph.domain.answers.findings import EarlierEvent, Finding
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import CommitsQuery
from limnograph.domain.time import Micros
from limnograph.services.alerts.interval import AlertInterval
from limnograph.services.notes.registry import NoteRegistry


class AlertContext(NamedTuple):
    """`tables`: names of the currently known tables; `commits`: the lists of commits; `finding_of`: the finding that an
    alert belongs to, None if no finding does; `earlier`: what happened on a table before an instant; `notes`: those of
    the team.
    """

    tables: Callable[[], Sequence[TableName]]
    commits: Callable[[CommitsQuery], Awaitable[CommitsPage]]
    finding_of: Callable[[AlertFact, AlertInterval], Finding | None]
    earlier: Callable[[TableName, Micros], list[EarlierEvent]]
    notes: NoteRegistry
