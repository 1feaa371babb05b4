"""An idle stream for 1,000 batches: what it costs of a core, and that its memory does not grow.

`make nightly`; LIMNOGRAPH_STEPS sizes it (20,000: 1,000 batches). All processes count: driver, JVM, Spark's planner and
workers. CPU is measured at the default trigger; batches a second are for the memory alone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median_high

import psutil
import pytest

from crash_lake import CrashLake

pytestmark = [pytest.mark.nightly, pytest.mark.spark]
BATCHES = max(60, int(os.environ.get("LIMNOGRAPH_STEPS", "20000")) // 20)
IDLE_SECONDS = min(600, BATCHES)
CORE_SHARE = 0.02
GROWTH_BYTES = 64 * 1024**2
"""What the last quarter of the batches may take more than the second: caches fill, a leak goes on."""


class Stream:
    """A running pipeline and all its children."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.driver = psutil.Process(process.pid)
        self._spent: dict[int, float] = {}

    def processes(self) -> list[psutil.Process]:
        return [self.driver, *self.driver.children(recursive=True)]

    def cpu_seconds(self) -> float:
        """Of all that ever lived."""
        for process in self.processes():
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            self._spent[process.pid] = times.user + times.system
        return sum(self._spent.values())

    def rss(self) -> int:
        found = 0
        for process in self.processes():
            try:
                found += process.memory_info().rss
            except psutil.Error:
                continue
        return found


@contextmanager
def streaming(world: CrashLake, trigger: str) -> Iterator[Stream]:
    """A stream that has made its first pass and its housekeeping."""
    command = [sys.executable, "-m", "limnograph", "pipeline", "--config", str(world.config), "--trigger", trigger]
    log = world.folder / f"stream-{trigger}.log"
    with log.open("wb") as told, subprocess.Popen(command, stdout=told, stderr=told) as process:
        try:
            yield Stream(process)
            assert process.poll() is None, log.read_text()[-2000:]  # who ended costs nothing, and shows nothing
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


def test_an_idle_stream_costs_next_to_nothing(tmp_path: Path) -> None:
    world = CrashLake(tmp_path)
    assert world.run().returncode == 0
    with streaming(world, "60s") as stream:
        time.sleep(120)  # the JVM has compiled what it uses
        before, began = stream.cpu_seconds(), time.monotonic()
        time.sleep(IDLE_SECONDS)
        share = (stream.cpu_seconds() - before) / (time.monotonic() - began)
    print(f"idle: {share:.2%} of a core", file=sys.stderr)
    assert share < CORE_SHARE


def test_the_memory_of_an_idle_stream_does_not_grow(tmp_path: Path) -> None:
    world = CrashLake(tmp_path)
    assert world.run().returncode == 0
    sizes: list[int] = []
    with streaming(world, "1s") as stream:
        time.sleep(60)
        before = stream.cpu_seconds()
        for _ in range(BATCHES):
            time.sleep(1)
            sizes.append(stream.rss())
        spent = stream.cpu_seconds() - before
    quarter = len(sizes) // 4
    # The middle: a child that the JVM has just forked counts the JVM's own pages again until it is another program.
    early, late = median_high(sizes[quarter : 2 * quarter]), median_high(sizes[-quarter:])
    print(f"{spent / BATCHES * 1000:.0f} ms of CPU a second; {early >> 20} MiB, then {late >> 20} MiB", file=sys.stderr)
    assert late - early < GROWTH_BYTES
