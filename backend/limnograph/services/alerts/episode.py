"""One firing of an alert as received, and its presumed state if no end was received."""

from __future__ import annotations

from typing import NamedTuple

from limnograph.domain.answers.alerts import Muted, State
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.time import Micros


class Episode(NamedTuple):
    """Built from one transition or both. Microseconds: `followed_at`, when its next episode began; `doubted_at`, the
    last notification of an alert that should have been repeated since (services/alerts/staleness.py).
    """

    told: dict[str, AlertFact]
    followed_at: Micros | None = None
    doubted_at: Micros | None = None
    muted: Muted | None = None

    @property
    def fact(self) -> AlertFact:
        """The known transition; the firing one has better data about the start and takes precedence."""
        return self.told.get("firing") or self.told["resolved"]

    @property
    def state(self) -> State:
        """Resolved also when it began again since; unknown when it fell silent."""
        if "resolved" in self.told or self.followed_at is not None:
            return "resolved"
        return "firing" if self.doubted_at is None else "unknown"

    @property
    def firing(self) -> bool:
        """Whether it still does, as far as is known."""
        return self.state == "firing"

    @property
    def known_to(self) -> Micros | None:
        """Microseconds until which it fired as far as is known; None while it does."""
        return self.doubted_at if self.state == "unknown" else self.ends_at

    @property
    def ends_at(self) -> Micros | None:
        """Microseconds; None while firing or unknown."""
        resolved = self.told.get("resolved")
        if resolved is not None:
            return resolved.ends_at if resolved.ends_at is not None else resolved.observed_at
        return self.followed_at
