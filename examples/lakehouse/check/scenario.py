"""A scenario: something happens in the lakehouse, the data are as they must be, and Limnograph shows it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from lakehouse.check.limit import CheckOverdue
from lakehouse.parts.memory import processor_s
from limnograph.demo.progress import Progress

HALVES = 2


class ScenarioFailed(AssertionError):
    """A claim does not hold."""


class ScenarioLog:
    """Claims and figures of one scenario. `halves`: how many of its two are over; `last`: its newest claim."""

    def __init__(self, name: str) -> None:
        self.name, self.last, self.halves = name, "", 0
        self.figures: dict[str, Any] = {}
        self.claims = 0
        self.failures: list[str] = []
        self.seconds = 0.0
        self.processor_s = 0.0

    def claim(self, sentence: str, holds: object, found: object = None) -> None:
        """Raises ScenarioFailed with what was found instead."""
        self.claims += 1
        self.last = sentence
        if not holds:
            raise ScenarioFailed(f"{sentence}, but found {found}" if found is not None else sentence)

    def equal(self, sentence: str, found: object, expected: object) -> None:
        """Claim that two values are equal."""
        self.claim(sentence, found == expected, f"{found!r} instead of {expected!r}")

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """An error within the block is this scenario's failure, and stops no other."""
        start, used = time.monotonic(), processor_s() or 0.0
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever an engine raises
            place = traceback.extract_tb(error.__traceback__)[-1]
            said = " ".join(str(error).split())[:300]
            self.failures.append(f"{type(error).__name__}: {said} ({place.name}:{place.lineno})")
        self.seconds += time.monotonic() - start
        self.processor_s += max(0.0, (processor_s() or 0.0) - used)  # what no one waited for is gone
        self.halves += 1


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


class CurrentStep:
    """What the check is at. Set by the main thread, read by the one that limits it."""

    def __init__(self) -> None:
        self.name = "the start of the programs"


def run_all(scenarios: Iterable[Scenario], progress: Progress, step: CurrentStep | None = None) -> list[ScenarioLog]:
    """First halves in order, then second halves in order: Limnograph reads while other scenarios happen. When the limit
    of the check passes, the scenario that was waiting fails, and so does each that was not reached.
    """
    chosen, step = list(scenarios), step or CurrentStep()
    logs = [scenario.log for scenario in chosen]
    try:
        for half in (Scenario.happen, Scenario.observe):
            for scenario in chosen:
                step.name = f"{scenario.log.name} ({half.__name__})"
                _run(scenario, half, progress)
    except CheckOverdue as overdue:
        for log in logs:
            if log.halves < HALVES and not log.failures:
                at = f"waited, {overdue}; its last claim was: {log.last or 'none'}"
                log.failures.append(at if step.name.startswith(f"{log.name} (") else f"not reached, {overdue}")
    step.name = "the end of the programs"
    return logs


def _run(scenario: Scenario, half: Callable[[Scenario], None], progress: Progress) -> None:
    log = scenario.log
    before, used = log.seconds, log.processor_s
    half(scenario)
    verdict = f"FAILED: {log.failures[0]}" if log.failures else "holds"
    took = f"{log.seconds - before:.1f} s, {log.processor_s - used:.1f} s of processors"
    progress.say(f"{log.name} ({half.__name__}, {took}): {verdict}")


def summary(
    logs: Iterable[ScenarioLog], seconds: float, memory_mb: int | None = None, cpu_s: float | None = None
) -> dict[str, Any]:
    """As `limnograph demo --check` prints it. `memory_mb`: memory of all programs at the end; `cpu_s`: their processor
    seconds until then.
    """
    chosen = list(logs)
    failed = [log.name for log in chosen if log.failures]
    return {
        "ok": bool(chosen) and not failed,
        "scenarios": len(chosen),
        "claims": sum(log.claims for log in chosen),
        "failed": failed,
        "seconds": round(seconds, 1),
        "memory_mb": memory_mb,
        "processor_s": None if cpu_s is None else round(cpu_s),
        "figures": {log.name: _figures(log) for log in chosen},
    }


def _figures(log: ScenarioLog) -> dict[str, Any]:
    """`processor_s`: of all programs meanwhile, those included that work for other scenarios."""
    return {**log.figures, "seconds": round(log.seconds, 1), "processor_s": round(log.processor_s, 1)}
