"""Own time of a process: what it computes and sleeps, not what a machine keeps it waiting; on real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from limnograph.adapters.processor_time import OwnTime, Sample, from_proc, from_ps
from limnograph.adapters.sandbox.limits import hangs_at_start, is_late

BUSY, SLEEPING = "while True: pass", "import time; time.sleep(600)"
HIDDEN_WORK = "import threading, time; threading.Thread(target=lambda: sum(iter(int, 1))).start(); time.sleep(600)"


@contextmanager
def running(script: str) -> Iterator[int]:
    child = subprocess.Popen([sys.executable, "-c", script])
    try:
        yield child.pid
    finally:
        child.kill()
        child.wait()


def watched(own: OwnTime, seconds: float) -> float:
    """Own time of so many seconds on the clock."""
    own.begin()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.02)
        own.look()
    return own.spent


def settle(pid: int, *, asleep: bool) -> None:
    seen = 0
    for _ in range(500):
        found = from_proc(pid)
        seen = seen + 1 if found and found.asleep == asleep else 0
        if seen == 5:
            return
        time.sleep(0.02)
    pytest.fail(f"process {pid} is not as expected")


def test_sleep_counts_and_a_stop_does_not() -> None:
    with running(SLEEPING) as pid:
        settle(pid, asleep=True)
        own = OwnTime(pid)
        assert watched(own, 0.6) == pytest.approx(0.6, abs=0.3)
        assert own.idle == pytest.approx(own.spent, abs=0.1)
        os.kill(pid, signal.SIGSTOP)
        assert watched(own, 0.6) < 0.15


def test_computing_counts_only_while_the_process_is_scheduled() -> None:
    with running(BUSY) as pid:
        settle(pid, asleep=False)
        own = OwnTime(pid)
        assert watched(own, 0.6) > 0.02
        assert own.idle == 0
        os.kill(pid, signal.SIGSTOP)
        assert watched(own, 0.6) < 0.15
        assert own.idle == 0


def test_a_process_sleeps_only_when_all_of_its_threads_do() -> None:
    with running(HIDDEN_WORK) as pid:
        settle(pid, asleep=False)


def test_ps_reports_the_same_as_the_kernel() -> None:
    with running(SLEEPING) as pid:
        settle(pid, asleep=True)
        by_ps, by_kernel = from_ps(pid), from_proc(pid)
        assert by_ps is not None
        assert by_kernel is not None
        assert by_ps.asleep
        assert by_ps.cpu_s == pytest.approx(by_kernel.cpu_s, abs=1.0)
    assert from_ps(pid) is None
    assert from_proc(pid) is None


class Played:
    """A process as a test tells it, and a clock."""

    def __init__(self) -> None:
        self.clock, self.now = 0.0, Sample(0.0, asleep=False)
        self.own = OwnTime(1, lambda _pid: self.now, lambda: self.clock, 0.0)

    def play(self, seconds: float, *, share: float = 0.0, asleep: bool = False) -> None:
        """That long, with a look every 50 ms, the process has this share of a processor."""
        for _ in range(round(seconds / 0.05)):
            self.clock += 0.05
            self.now = Sample(self.now.cpu_s + 0.05 * share, asleep)
            self.own.look()


def test_a_start_that_is_runnable_but_not_scheduled_is_never_abandoned() -> None:
    played = Played()
    played.play(1_800)
    assert not hangs_at_start(played.own)
    played.play(1_000, share=0.01)
    assert not hangs_at_start(played.own)


def test_a_start_that_hangs_or_computes_indefinitely_is_abandoned() -> None:
    hung, runaway = Played(), Played()
    hung.play(50, asleep=True)
    assert not hangs_at_start(hung.own)
    hung.play(1, share=0.5)
    hung.play(50, asleep=True)
    assert not hangs_at_start(hung.own)
    hung.play(11, asleep=True)
    assert "it hung for 6" in hangs_at_start(hung.own)
    runaway.play(599, share=1.0)
    assert not hangs_at_start(runaway.own)
    runaway.play(2, share=1.0)
    assert "s of processor time" in hangs_at_start(runaway.own)


def test_the_time_of_a_late_check_is_not_counted() -> None:
    played = Played()
    for _ in range(10):
        played.clock += 60.0
        played.now = Sample(played.now.cpu_s, asleep=True)
        played.own.look()
    assert played.own.spent == pytest.approx(2.5)


def test_an_endless_response_with_occasional_activity_is_late_eventually() -> None:
    played = Played()
    played.play(599, share=0.001)
    assert not is_late(played.own, 10.0)
    played.play(2, share=0.001)
    assert is_late(played.own, 10.0)


def test_without_data_of_the_system_the_clock_counts() -> None:
    clock = [0.0]
    own = OwnTime(1, lambda _pid: None, lambda: clock[0], 0.0)
    for _ in range(100):
        clock[0] += 0.1
        own.look()
    assert own.spent == pytest.approx(10.0)
