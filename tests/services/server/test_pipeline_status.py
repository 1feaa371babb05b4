"""What the status says of the pipeline: by its newest good pass, not by the age of the newest row."""

from __future__ import annotations

import anyio

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.answers.tables import SourceStatus
from limnograph.ports.inbox import PASS_MARK, InboxItem
from serving_kit import HOUR, MINUTE, NOW, lake, parts, row


def pipeline(passed_at: int | None) -> SourceStatus:
    inbox = MemoryInbox()
    if passed_at is not None:
        inbox.put([InboxItem(PASS_MARK, "a", b"{}", passed_at, passed_at)])
    made = parts(lake([row(1, NOW - 5 * HOUR, 5, observed_at=NOW - 5 * HOUR)]), inbox=inbox)
    made.inbox_state.look()
    status = anyio.run(made.backend.status.status)
    return next(source for source in status.sources if source.id == "pipeline")


def test_a_quiet_lake_does_not_make_a_running_pipeline_stale() -> None:
    assert (pipeline(NOW - MINUTE).status, pipeline(NOW - MINUTE).age_s) == ("ok", 60)


def test_a_pipeline_whose_passes_stopped_is_stale_since_its_last_pass() -> None:
    stopped = pipeline(NOW - 2 * HOUR)
    assert (stopped.status, stopped.age_s) == ("stale", 7_200)
    assert "no pass has succeeded for 2 h" in (stopped.detail or "")


def test_a_pipeline_that_writes_no_pass_marks_is_not_reported_as_stopped() -> None:
    assert pipeline(None).status == "ok"
