"""Follows the transitions of plans that any server, command or executor recorded.

Cost: the states are read once, O(plans), and those of open plans again every five minutes. Each look is two queries on
indexes: the transitions in the inbox since the last look less a minute (clocks differ, and a transaction that began
earlier may end later), and the open breakers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.maintenance.leases import MaintenanceBreaker
from limnograph.domain.maintenance.states import OPEN
from limnograph.domain.metrics.maintenance import MaintenanceNumbers
from limnograph.domain.time import EPOCH, Micros
from limnograph.ports.inbox import Inbox, Kind
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.tally import PlanTally
from limnograph.services.sources.inbox_items import facts_of_items

KIND: Kind = "plan"
_SKEW = 60_000_000
_AGAIN_S = 300.0
_UNKNOWN = (0, "")
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
        self._version = 0
        self._tally = PlanTally()
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

    @property
    def version(self) -> int:
        """Changes with every transition."""
        return self._version

    def last(self, plan_id: str) -> tuple[int, str]:
        """Number and state of the last known transition of a plan; 0 and nothing: it is not recorded."""
        return self._last.get(plan_id, _UNKNOWN)

    def open_plan(self, plan_id: str) -> PlanFact | None:
        """The last transition of a plan, if it is open."""
        return self._open.get(plan_id)

    def open_plans(self) -> list[PlanFact]:
        """The last transition of each open plan."""
        with self._lock:
            return list(self._open.values())

    def catch_up(self) -> list[PlanFact]:
        """Look for transitions; returns the new ones in order, at the first call none. Blocks. Raises SourceError."""
        first, now = self._read_at is None, self._monotonic()
        if first:
            self._seen_to = self._inbox.newest(KIND) or EPOCH
        items = self._inbox.items(KIND, max(Micros(self._seen_to - _SKEW), EPOCH))
        again = self._read_at is not None and now - self._read_at >= _AGAIN_S
        new = self.add(facts_of_items(items, _decoder, "a plan"))
        new += self.add(self._desk.plans(() if first else OPEN)) if first or again else []
        self._seen_to = max((item.accepted_at for item in items), default=self._seen_to)
        self._breakers = self._desk.breakers()
        self._read_at = now if first or again else self._read_at
        return [] if first else new

    def numbers(self) -> MaintenanceNumbers:
        """The numbers for `/metrics`, since the first look."""
        return self._tally.numbers(self._breakers)

    def add(self, facts: Iterable[PlanFact]) -> list[PlanFact]:
        """Add transitions that were just recorded; returns those that were not known."""
        found = list[PlanFact]()
        for fact in sorted(facts, key=lambda fact: (fact.at or EPOCH, fact.seq)):
            with self._lock:
                before = self._last.get(fact.plan_id, _UNKNOWN)[1]
                is_new = self._added(fact)
            if is_new:
                found.append(fact)
                if self.started:
                    self._tally.count(before, fact)
        return found

    def _added(self, fact: PlanFact) -> bool:
        if fact.state is None or self._last.get(fact.plan_id, _UNKNOWN)[0] >= fact.seq:
            return False
        self._version += 1
        self._last[fact.plan_id] = fact.seq, fact.state
        if fact.state in OPEN:
            self._open[fact.plan_id] = fact
        else:
            self._open.pop(fact.plan_id, None)
        return True
