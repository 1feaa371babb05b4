"""One episode of an alert as received, and its presumed state if no end was received."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.answers.alerts import Muted, State
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.time import Micros


class AlertEpisode(NamedTuple):
    """An alert episode from one transition or both; instants in microseconds.

    `told`: the received transitions by status
    `followed_at`: when the alert's next episode began
    `doubted_at`: last notification of an alert that should have been repeated since (services/alerts/staleness.py)
    """

    told: dict[str, AlertFact]
    followed_at: Micros | None = None
    doubted_at: Micros | None = None
    muted: Muted | None = None

    @property
    def fact(self) -> AlertFact:
        """The known transition. The firing one takes precedence: it has better data about the start."""
        return self.told.get("firing") or self.told["resolved"]

    @property
    def state(self) -> State:
        """Resolved also if the alert fired again later; unknown if its notifications stopped."""
        if "resolved" in self.told or self.followed_at is not None:
            return "resolved"
        return "firing" if self.doubted_at is None else "unknown"

    @property
    def firing(self) -> bool:
        """Whether the alert still fires, as far as known."""
        return self.state == "firing"

    @property
    def known_to(self) -> Micros | None:
        """Microseconds until which it fired, as far as known; None while it fires."""
        return self.doubted_at if self.state == "unknown" else self.ends_at

    @property
    def ends_at(self) -> Micros | None:
        """End in microseconds; None while firing or unknown."""
        resolved = self.told.get("resolved")
        if resolved is not None:
            return resolved.ends_at if resolved.ends_at is not None else resolved.observed_at
        return self.followed_at
