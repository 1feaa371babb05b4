"""What one request told us: facts for the inbox and notices that wake. Values; `services/inflow.py` stores them."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.events import ReportFact, RunFact
from limnograph.domain.notices import Notice


class Told(NamedTuple):
    """`messages`: how many things the sender told, of which some may need neither fact nor notice."""

    runs: tuple[RunFact, ...] = ()
    reports: tuple[ReportFact, ...] = ()
    notices: tuple[Notice, ...] = ()
    messages: int = 1


class Taken(NamedTuple):
    """How many messages were new, and how many had been told before."""

    accepted: int
    duplicates: int
