"""An idle stream for 1,000 batches: what it costs of a core, and that its memory does not grow.

`make nightly`; LIMNOGRAPH_STEPS sizes it (20,000: 1,000 batches). All processes count: driver, JVM, Spark's planner and
workers. CPU is measured at the default trigger; batches a second are for the memory alone. Batches are counted by the
stream's own numbers: one that cannot begin, as on a starved machine, is cheap and shows nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median_high

import psutil
import pytest

from crash_lake import CrashLake
from postgres import free_port

pytestmark = [pytest.mark.nightly, pytest.mark.spark]
PASSES_OK = 'limnograph_pipeline_passes_total{result="ok"}'
BATCHES = max(60, int(os.environ.get("LIMNOGRAPH_STEPS", "20000")) // 20)
IDLE_SECONDS = min(600, BATCHES)
CORE_SHARE = 0.02
PATIENCE_S = 1_800
"""For the first pass; a batch of a second has a sixtieth of it."""
GROWTH_BYTES = 64 * 1024**2
"""What the last quarter of the batches may take more than the second: caches fill, a leak goes on."""


class Stream:
    """A running pipeline and all its children; `port`: where it tells its numbers."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self.driver, self._port = psutil.Process(process.pid), port
        self._spent: dict[int, float] = {}

    def passes(self) -> int:
        """Good ones since it began; none while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/metrics", timeout=60) as answer:
                told = answer.read().decode()
        except OSError:
            return 0
        counted = (line.split()[-1] for line in told.splitlines() if line.startswith(PASSES_OK))
        return int(float(next(counted, "0")))

    def wait_for_passes(self, count: int, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.passes() < count:
            assert self.driver.status() != psutil.STATUS_ZOMBIE
            assert time.monotonic() < end, f"{self.passes()} passes of {count}"
            time.sleep(1)

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
    """A stream that has made its first pass."""
    port, config = free_port(), world.config.with_name("stream.toml")
    config.write_text(f'{world.config.read_text()}[pipeline]\nmetrics = "127.0.0.1:{port}"\n')
    command = [sys.executable, "-m", "limnograph", "pipeline", "--config", str(config), "--trigger", trigger]
    log = world.folder / f"stream-{trigger}.log"
    with log.open("wb") as told, subprocess.Popen(command, stdout=told, stderr=told) as process:
        try:
            stream = Stream(process, port)
            stream.wait_for_passes(1, PATIENCE_S)
            yield stream
            assert process.poll() is None, log.read_text()[-2000:]  # who ended costs nothing, and shows nothing
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


def test_an_idle_stream_uses_almost_no_processor_time(tmp_path: Path) -> None:
    world = CrashLake(tmp_path)
    assert world.run().returncode == 0
    with streaming(world, "60s") as stream:
        time.sleep(120)  # the JVM has compiled what it uses
        before, began, first = stream.cpu_seconds(), time.monotonic(), stream.passes()
        time.sleep(IDLE_SECONDS)
        share = (stream.cpu_seconds() - before) / (time.monotonic() - began)
        made = stream.passes() - first
    print(f"idle: {share:.2%} of a core, {made} passes", file=sys.stderr)
    assert made >= IDLE_SECONDS // 120
    assert share < CORE_SHARE


def test_the_memory_of_an_idle_stream_does_not_grow(tmp_path: Path) -> None:
    world = CrashLake(tmp_path)
    assert world.run().returncode == 0
    sizes: list[int] = []
    with streaming(world, "1s") as stream:
        time.sleep(60)
        before, first = stream.cpu_seconds(), stream.passes()
        for number in range(BATCHES):
            stream.wait_for_passes(first + number + 1, PATIENCE_S / 60)
            sizes.append(stream.rss())
        spent = stream.cpu_seconds() - before
    quarter = len(sizes) // 4
    # The middle: a child that the JVM has just forked counts the JVM's own pages again until it is another program.
    early, late = median_high(sizes[quarter : 2 * quarter]), median_high(sizes[-quarter:])
    print(f"{spent / BATCHES * 1000:.0f} ms of CPU a batch; {early >> 20} MiB, then {late >> 20} MiB", file=sys.stderr)
    assert late - early < GROWTH_BYTES
