"""Contents of one request: facts for the inbox, and notices that wake the watcher. Values only;
`services/events/intake.py` stores them.
"""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.inbound.notices import Notice


class ReceivedEvents(NamedTuple):
    """`messages`: the number of received items; some need neither a fact nor a notice."""

    runs: tuple[RunFact, ...] = ()
    reports: tuple[ReportFact, ...] = ()
    notices: tuple[Notice, ...] = ()
    messages: int = 1


class Acknowledgement(NamedTuple):
    """The number of new and of repeated messages."""

    accepted: int
    duplicates: int
