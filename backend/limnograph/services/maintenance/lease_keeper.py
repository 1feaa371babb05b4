"""Keeps a table's lease while its holder works: a beat every 20 s, and an end of the work when beats do not succeed."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import NamedTuple, Self

from limnograph.domain.errors import LeaseLost, SourceError
from limnograph.domain.maintenance.leases import BEAT_S, GIVE_UP_S, GRACE_US, TableLease
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.plan_states import PlanStates

_log = logging.getLogger("limnograph.maintain")


class LeaseTiming(NamedTuple):
    """When a holder beats, gives up, and ends the process; how long the next holder waits. Seconds.

    end_s  after the last beat: the process ends although its work has not. It is earlier than the lease's end
    """

    beat_s: float = BEAT_S
    give_up_s: float = GIVE_UP_S
    end_s: float = (GIVE_UP_S + 300.0) / 2
    grace_s: float = GRACE_US / MICROS_PER_SECOND


class LeaseKeeper:
    """Thread-safe: the thread of the beats writes `_beaten_at` and `_lost`, single values. A context manager: the lease
    is released at its end, unless it was lost.

    end    called when the lease is lost and the block has not ended until `end_s`: it must not return
    """

    def __init__(
        self,
        states: PlanStates,
        lease: TableLease,
        timing: LeaseTiming = LeaseTiming(),  # noqa: B008  # immutable
        *,
        end: Callable[[], object] = lambda: None,
    ) -> None:
        self._states, self._lease, self._timing, self._end = states, lease, timing, end
        self._beaten_at, self._lost = time.monotonic(), False
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep, name=f"lease-{lease.table_uuid}", daemon=True)

    @property
    def lease(self) -> TableLease:
        """The lease as last renewed."""
        return self._lease

    @property
    def is_lost(self) -> bool:
        """Whether the work must end. A process that was stopped for long notices it before its next beat."""
        return self._lost or time.monotonic() - self._beaten_at >= self._timing.give_up_s

    def check(self) -> None:
        """Raises LeaseLost."""
        if self.is_lost:
            raise LeaseLost(f"the lease of table {self._lease.table_uuid} was lost: another executor may hold it")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        if not self.is_lost:
            with contextlib.suppress(SourceError):  # it ends by itself
                self._states.release(self._lease)

    def _keep(self) -> None:
        while not self._over.wait(self._timing.beat_s):
            self._beat()
            if self.is_lost:
                self._lost = True
                break
        rest_s = self._beaten_at + self._timing.end_s - time.monotonic()
        if not self._over.wait(max(rest_s, 0.0)):
            _log.error("the lease of table %s was lost, and its action did not end", self._lease.table_uuid)
            self._end()

    def _beat(self) -> None:
        # The lease counts from before the call: its answer may be late.
        began_at = time.monotonic()
        try:
            self._lease = self._states.renew(self._lease)
            self._beaten_at = began_at
        except LeaseLost:
            self._lost = True
        except SourceError as error:
            _log.warning("the lease of table %s could not be renewed: %s", self._lease.table_uuid, error)
