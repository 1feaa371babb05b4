"""Pushed runs and the inbox they rest in."""

import asyncio

import pytest

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.events import RunFact, RunTable
from limnograph.domain.ids import TableName
from limnograph.ports.inbox import InboxItem
from limnograph.services.runs import Runs
from serving_kit import HOUR, NOW, parts

NAME = TableName("lake", "sales", "orders")
RUN = RunFact(
    run_id="r",
    status="ok",
    job_name="churn",
    started_at=NOW - HOUR,
    ended_at=NOW,
    tables=[RunTable(catalog="lake", namespace="sales", table="orders", role="reads")],
)


def test_an_item_that_is_no_run_is_left_out_and_the_others_come_back() -> None:
    inbox = MemoryInbox()
    asyncio.run(Runs(inbox).accept([RUN]))
    inbox.put([InboxItem("run", "bad", b"{", 0), InboxItem("run", "worse", b"\xff\xfe", 1)])
    runs = Runs(inbox)
    runs.restore()
    assert [run.job for run in runs.of_table(NAME, NOW - HOUR, NOW)] == ["churn"]


def test_the_state_of_the_inbox_follows_what_it_last_did() -> None:
    made = parts()

    def shown() -> tuple[str, str | None]:
        status = asyncio.run(made.backend.status.status())
        return next((s.status, s.detail) for s in status.sources if s.id == "inbox")

    made.runs._inbox.failure = SourceUnavailable("inbox", "disk is full")
    with pytest.raises(SourceUnavailable):
        asyncio.run(made.runs.accept([RUN]))
    assert shown() == ("error", "inbox: disk is full")
    made.runs._inbox.failure = None
    asyncio.run(made.runs.accept([RUN]))
    assert shown() == ("ok", None)
