"""What other rooms know of the tables that alerts are about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from limnograph.domain.answers.commits import CommitsPage
from limnograph.domain.answers.findings import Finding
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import CommitsQuery
from limnograph.services.alerts.interval import AlertInterval


class AlertContext(NamedTuple):
    """`tables`: names of the currently known tables; `commits`: the lists of commits; `finding_of`: the finding that an
    alert belongs to, None if no finding does.
    """

    tables: Callable[[], Sequence[TableName]]
    commits: Callable[[CommitsQuery], Awaitable[CommitsPage]]
    finding_of: Callable[[AlertFact, AlertInterval], Finding | None]
