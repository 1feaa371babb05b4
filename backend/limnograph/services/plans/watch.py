"""Follows the transitions of plans that any server, command or executor recorded.

Cost: the states are read once, O(plans), and those of open plans again every five minutes. Each look is two queries on
indexes: the transitions in the inbox since the last look less a minute (clocks differ, and a transaction that began
earlier may end later), and the open breakers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.states import OPEN
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.inbox import Inbox, Kind
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.sources.inbox_items import facts_of_items

KIND: Kind = "plan"
_SKEW = 60_000_000
_AGAIN_S = 300.0
_decoder = msgspec.json.Decoder(PlanFact)


class PlanWatch:
    """`catch_up` is called by one thread at a time. Thread-safe: what is in memory is guarded by `_lock`, which is
    never held over I/O.
    """

    def __init__(self, desk: PlanDesk, inbox: Inbox, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._desk, self._inbox, self._monotonic = desk, inbox, monotonic
        self._lock = threading.Lock()
        self._last: dict[str, tuple[int, str]] = {}
        self._open: dict[str, PlanFact] = {}
        self._breakers: Sequence[MaintenanceBreaker] = ()
        self._seen_to = EPOCH
        self._read_at: float | None = None

    @property
    def started(self) -> bool:
        """Whether the states were read."""
        return self._read_at is not None

    @property
    def breakers(self) -> Sequence[MaintenanceBreaker]:
        """Open breakers at the last look, oldest first."""
        return self._breakers

    def state(self, plan_id: str) -> str | None:
        """The last known state of a plan; None: it is not recorded."""
        found = self._last.get(plan_id)
        return None if found is None else found[1]

    def open_plans(self) -> Mapping[str, PlanFact]:
        """The last transition of each open plan, by id."""
        with self._lock:
            return dict(self._open)

    def catch_up(self) -> list[PlanFact]:
        """Look for transitions; returns the new ones in order, at the first call none. Blocks. Raises SourceError."""
        first, now = self._read_at is None, self._monotonic()
        if first:
            self._seen_to = self._inbox.newest(KIND) or EPOCH
        items = self._inbox.items(KIND, max(Micros(self._seen_to - _SKEW), EPOCH))
        if self._read_at is None or now - self._read_at >= _AGAIN_S:
            self.add(self._desk.plans(() if first else OPEN))
            self._read_at = now
        self._seen_to = max((item.accepted_at for item in items), default=self._seen_to)
        new = self.add(facts_of_items(items, _decoder, "a plan"))
        self._breakers = self._desk.breakers()
        return [] if first else new

    def add(self, facts: Iterable[PlanFact]) -> list[PlanFact]:
        """Add transitions that were just recorded; returns those that were not known."""
        with self._lock:
            return [fact for fact in sorted(facts, key=_place) if self._added(fact)]

    def _added(self, fact: PlanFact) -> bool:
        known = self._last.get(fact.plan_id)
        if fact.state is None or (known is not None and known[0] >= fact.seq):
            return False
        self._last[fact.plan_id] = fact.seq, fact.state
        if fact.state in OPEN:
            self._open[fact.plan_id] = fact
        else:
            self._open.pop(fact.plan_id, None)
        return True


def _place(fact: PlanFact) -> tuple[int, str, int]:
    return fact.at or EPOCH, fact.plan_id, fact.seq
