"""A scenario: something happens in the lakehouse, the data are as they must be, and Limnograph shows it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from limnograph.demo.progress import Progress


class ScenarioFailed(AssertionError):
    """A claim does not hold."""


class ScenarioLog:
    """Claims and figures of one scenario. `happened`: whether its first half is over."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.figures: dict[str, Any] = {}
        self.claims = 0
        self.failures: list[str] = []
        self.seconds = 0.0

    def claim(self, sentence: str, holds: object, found: object = None) -> None:
        """Raises ScenarioFailed with what was found instead."""
        self.claims += 1
        if not holds:
            raise ScenarioFailed(f"{sentence}, but found {found}" if found is not None else sentence)

    def equal(self, sentence: str, found: object, expected: object) -> None:
        """Claim that two values are equal."""
        self.claim(sentence, found == expected, f"{found!r} instead of {expected!r}")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """An error within the block is this scenario's failure, and stops no other."""
        start = time.monotonic()
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever an engine raises
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = " ".join(str(error).split())[:300]
            self.failures.append(f"{type(error).__name__}: {said} ({place.name}:{place.lineno})")
        self.seconds += time.monotonic() - start


Half = Callable[[ScenarioLog], None]


class Scenario:
    """`happen` makes it happen and asserts the data; `observe` asserts what Limnograph shows, later, when it has read
    the commits.
    """

    def __init__(self, name: str, happen: Half, observe: Half) -> None:
        self.log, self._happen, self._observe = ScenarioLog(name), happen, observe

    def happen(self) -> None:
        """The first half."""
        with self.log.guarded():
            self._happen(self.log)

    def observe(self) -> None:
        """The second half, unless the first one failed."""
        if not self.log.failures:
            with self.log.guarded():
                self._observe(self.log)


def run_all(scenarios: Iterable[Scenario], progress: Progress) -> list[ScenarioLog]:
    """First halves in order, then second halves in order: Limnograph reads while other scenarios happen."""
    chosen = list(scenarios)
    for half in (Scenario.happen, Scenario.observe):
        for scenario in chosen:
            before = scenario.log.seconds
            half(scenario)
            verdict = f"FAILED: {scenario.log.failures[0]}" if scenario.log.failures else "holds"
            progress.say(f"{scenario.log.name} ({half.__name__}, {scenario.log.seconds - before:.1f} s): {verdict}")
    return [scenario.log for scenario in chosen]


def summary(logs: Iterable[ScenarioLog], seconds: float, memory_mb: int | None = None) -> dict[str, Any]:
    """As `limnograph demo --check` prints it. `memory_mb`: memory of all programs at the end."""
    chosen = list(logs)
    failed = [log.name for log in chosen if log.failures]
    return {
        "ok": bool(chosen) and not failed,
        "scenarios": len(chosen),
        "claims": sum(log.claims for log in chosen),
        "failed": failed,
        "seconds": round(seconds, 1),
        "memory_mb": memory_mb,
        "figures": {log.name: {**log.figures, "seconds": round(log.seconds, 1)} for log in chosen},
    }
