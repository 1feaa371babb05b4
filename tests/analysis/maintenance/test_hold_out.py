"""The control group: the same in every process, of the share that was set, and never two periods in a row."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.analysis.maintenance.decision import decide
from limnograph.analysis.maintenance.hold_out import PERIOD_US, held_until
from limnograph.domain.time import Micros
from maintained_facts import NOW_US, approved, decided, policy, rule

TABLES = [f"table-{number}" for number in range(2_000)]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5])
def test_the_share_of_tables_waits(share: float) -> None:
    waiting = sum(held_until(each, share, NOW_US) is not None for each in TABLES)
    assert waiting / len(TABLES) == pytest.approx(share, abs=0.035)


@settings(max_examples=100, deadline=None)
@given(st.uuids(), st.floats(0, 0.5), st.integers(0, 3_000))
def test_a_table_never_waits_two_periods_in_a_row(uuid: object, share: float, number: int) -> None:
    at = Micros(number * PERIOD_US + 1)
    first, second = held_until(str(uuid), share, at), held_until(str(uuid), share, Micros(at + PERIOD_US))
    assert first is None or second is None
    assert first in {None, (number + 1) * PERIOD_US}


def test_no_share_holds_no_table() -> None:
    assert not any(held_until(each, 0.0, NOW_US) for each in TABLES)


def test_a_table_of_the_control_group_waits_and_is_named() -> None:
    uuid = next(each for each in TABLES if held_until(each, 0.1, NOW_US))
    found = decide(decided(table_uuid=uuid, policy=policy(rule(hold_out=0.1))))
    assert (found.verdict, found.code, found.retry_at) == ("wait", "control_group", held_until(uuid, 0.1, NOW_US))
    assert 'in the control group of "sales" (10% of the tables)' in found.text


def test_what_a_user_approved_is_not_held_out() -> None:
    uuid = next(each for each in TABLES if held_until(each, 0.1, NOW_US))
    assert decide(decided(table_uuid=uuid, policy=policy(rule(hold_out=0.1)), approval=approved())).verdict == "run"
