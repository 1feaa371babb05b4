"""What the server knows of the pipeline's last good pass and of the inbox; a dead pipeline is not forgotten."""

from __future__ import annotations

import pytest

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.errors import SourceUnavailable
from limnograph.ports.inbox import InboxItem
from limnograph.services.pipeline.pass_marks import InboxState, MarkedPasses
from limnograph.services.pipeline.report import PassReport
from limnograph.wiring.server_metrics import catalog_answers, own_metrics
from serving_kit import HOUR, NOW, FixedClock, lake, parts, row

LAST, WAITING = "limnograph_last_pass_timestamp_seconds", "limnograph_inbox_items"
OLDEST = "limnograph_inbox_oldest_timestamp_seconds"


class Passes:
    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    def run(self) -> PassReport:
        if self.error:
            raise self.error
        return PassReport(
            run_id="run", tables_seen=1, tables_changed=0, snapshots_appended=0, gaps=0, unreadable=0, seconds=0.1
        )


def seen(inbox: MemoryInbox, observed_at: int | None = None) -> dict[str, float | None]:
    state = InboxState(inbox)
    state.look()
    return state.numbers(observed_at)


def test_only_a_successful_pass_writes_a_mark_and_the_newest_survives_the_purge() -> None:
    inbox, said = MemoryInbox(), list[str]()
    assert seen(inbox)[LAST] is None
    MarkedPasses(Passes(), inbox, FixedClock(NOW), said.append).run()
    MarkedPasses(Passes(), inbox, FixedClock(NOW + HOUR), said.append).run()
    with pytest.raises(SourceUnavailable):
        MarkedPasses(Passes(SourceUnavailable("meta", "down")), inbox, FixedClock(NOW + 2 * HOUR), said.append).run()
    assert inbox.purge(NOW + 90 * HOUR) == 1
    assert seen(inbox)[LAST] == (NOW + HOUR) / 1e6
    assert inbox.waiting(("run",), 9) == said == []


def test_an_unavailable_inbox_fails_no_pass_and_the_server_reports_no_backlog() -> None:
    inbox, said = MemoryInbox(), list[str]()
    state = InboxState(inbox)
    inbox.put([InboxItem("run", "a", b"{}", NOW)])
    state.look()
    assert (state.numbers(None)[WAITING], state.numbers(None)[OLDEST]) == (1, NOW / 1e6)
    inbox.failure = SourceUnavailable("inbox", "down")
    assert MarkedPasses(Passes(), inbox, FixedClock(), said.append).run().run_id == "run"
    assert "not recorded" in said[0]
    with pytest.raises(SourceUnavailable):
        state.look()
    assert (state.numbers(None)[WAITING], state.numbers(None)[OLDEST]) == (None, None)


def test_rows_of_a_pipeline_that_writes_no_pass_marks_count_too() -> None:
    assert seen(MemoryInbox(), NOW)[LAST] == NOW / 1e6
    made = parts(lake([row(1, NOW - HOUR, 5, observed_at=NOW - HOUR)]))
    assert own_metrics(made)[LAST] == (NOW - HOUR) / 1e6


def test_a_catalog_that_stops_responding_is_down_and_known_until_then() -> None:
    made = parts(lake([row(1, NOW - HOUR, 5)]), catalogs={"lake": {}, "other": {}})
    assert catalog_answers(made) == {}, "nothing is watched"
    made.store.probed(NOW, ["lake"], [])
    assert catalog_answers(made) == {"lake": (NOW, True), "other": (None, False)}
    made.store.probed(NOW + 1, ["other"], [])
    assert catalog_answers(made) == {"lake": (NOW, False), "other": (NOW + 1, True)}
