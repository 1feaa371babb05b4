"""A store that fails for long ends an append soon, and its error is not called a conflict; rivals are outlasted."""

from __future__ import annotations

import pytest

from limnograph.adapters.meta.schema import arrow_table
from limnograph.domain.errors import Conflict, LimnographError, SourceUnavailable
from limnograph.domain.facts.meta_tables import RUNS, RunFact
from limnograph.services.pipeline.appending import ATTEMPTS, FAILURES, MetaAppender
from memory_meta import MemoryMetaStore

FULL = SourceUnavailable("meta store", "no space left on device")
MOVED = Conflict("runs: head moved")


def appended(errors: list[LimnographError]) -> tuple[int | str, list[str], int]:
    """Rows that one call appended while its attempts raise these errors, or its error; the progress; the attempts."""
    store, lines, attempts = MemoryMetaStore(), list[str](), 0
    store.ensure()

    def fail(_table: object) -> None:
        nonlocal attempts
        attempts += 1
        if attempts <= len(errors):
            raise errors[attempts - 1]

    store.before_append = fail
    appending = MetaAppender(store, lambda found: arrow_table(RUNS, found), lines.append, lambda _seconds: None)
    try:
        found: int | str = appending.events(RUNS, arrow_table(RUNS, [RunFact(run_id="r", status="ok", at=1)]), "run")
    except SourceUnavailable as error:
        found = error.detail
    return found, lines, attempts


def test_a_store_that_goes_on_failing_is_given_up_and_named() -> None:
    found, lines, attempts = appended([FULL] * ATTEMPTS)
    assert attempts == FAILURES
    assert found == f"{FAILURES} attempts to append to runs failed; last error: no space left on device"
    assert lines == [
        "append to runs: write failed (meta store: no space left on device); retrying on the current state"
    ]


@pytest.mark.parametrize("errors", [[FULL] * (FAILURES - 1), [MOVED] * (ATTEMPTS - 1), [FULL, FULL, FULL, MOVED] * 4])
def test_lost_replies_and_rivals_are_outlasted(errors: list[LimnographError]) -> None:
    assert appended(errors)[::2] == (1, len(errors) + 1)


def test_rivals_that_always_win_are_given_up() -> None:
    found, lines, attempts = appended([MOVED] * ATTEMPTS)
    assert attempts == ATTEMPTS
    assert found == f"{ATTEMPTS} attempts to append to runs failed; last error: runs: head moved"
    assert lines[0].startswith("append to runs: write conflict (runs: head moved)")
