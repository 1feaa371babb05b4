"""What one request told us: facts for the inbox and notices that wake. Values; `services/events/intake.py` stores
them.
"""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.facts.events import ReportFact, RunFact
from limnograph.domain.inbound.notices import Notice


class ReceivedEvents(NamedTuple):
    """`messages`: how many things the sender told, of which some may need neither fact nor notice."""

    runs: tuple[RunFact, ...] = ()
    reports: tuple[ReportFact, ...] = ()
    notices: tuple[Notice, ...] = ()
    messages: int = 1


class Acknowledgement(NamedTuple):
    """How many messages were new, and how many had been told before."""

    accepted: int
    duplicates: int
