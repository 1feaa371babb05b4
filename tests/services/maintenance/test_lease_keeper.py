"""A holder that cannot beat ends its work before its lease does."""

from __future__ import annotations

import threading

import pytest

from limnograph.adapters.memory.plan_states import MemoryPlanStates
from limnograph.domain.errors import LeaseLost, SourceUnavailable
from limnograph.domain.maintenance.leases import GIVE_UP_S, LEASE_US
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.services.maintenance.lease_keeper import LeaseKeeper, LeaseTiming
from maintain_site import until

BEATS = LeaseTiming(beat_s=0.02, give_up_s=0.2, end_s=0.4, grace_s=0.0)


def test_the_process_ends_before_the_lease_does() -> None:
    timing = LeaseTiming()
    assert GIVE_UP_S == timing.give_up_s < timing.end_s < LEASE_US / MICROS_PER_SECOND


def test_beats_keep_a_lease_and_its_end_releases_it() -> None:
    states = MemoryPlanStates(lease_us=100_000)
    lease = states.acquire("t", "one", "p")
    assert lease is not None
    with LeaseKeeper(states, lease, BEATS) as keeper:
        until(lambda: keeper.lease.until > lease.until + 200_000)
        assert states.acquire("t", "two", "p") is None
        keeper.check()
    assert states.acquire("t", "two", "p") is not None


def test_a_database_that_does_not_answer_ends_the_work_and_then_the_process() -> None:
    states, ended = MemoryPlanStates(), threading.Event()
    lease = states.acquire("t", "one", "p")
    assert lease is not None
    with LeaseKeeper(states, lease, BEATS, end=ended.set) as keeper:
        states.failure = SourceUnavailable("inbox", "no answer")
        until(lambda: keeper.is_lost)
        with pytest.raises(LeaseLost):
            keeper.check()
        assert ended.wait(5)
    states.failure = None
    assert [each.executor_id for each in states.holders()] == ["one"]  # it is not released


def test_a_lease_that_another_executor_took_is_lost_at_the_next_beat() -> None:
    states = MemoryPlanStates()
    lease = states.acquire("t", "one", "p")
    assert lease is not None
    with LeaseKeeper(states, lease, BEATS) as keeper:
        assert states.acquire("t", "one", "p") is not None  # the same executor, started again
        until(lambda: keeper.is_lost)
    assert [each.epoch for each in states.holders()] == [2]


def test_a_holder_that_was_stopped_notices_it_before_its_next_beat() -> None:
    states = MemoryPlanStates()
    lease = states.acquire("t", "one", "p")
    assert lease is not None
    keeper = LeaseKeeper(states, lease, LeaseTiming(beat_s=600.0))
    keeper.check()
    keeper._beaten_at -= GIVE_UP_S
    with pytest.raises(LeaseLost):
        keeper.check()
