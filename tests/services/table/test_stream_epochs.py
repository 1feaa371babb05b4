"""The stream that made a commit: its query and epoch, epochs that are missing or repeated, and a new query."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.services.lake.lake import Facts
from limnograph.services.table.stream_epochs import stream_epoch
from serving_kit import HOUR, MINUTE, NOW, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")


def spark(query: str, epoch: object) -> dict[str, str]:
    return {"spark.sql.streaming.queryId": query, "spark.sql.streaming.epochId": str(epoch)}


def flink(job: str, checkpoint: int) -> dict[str, str]:
    return {"flink.job-id": job, "flink.max-committed-checkpoint-id": str(checkpoint), "engine-name": "flink"}


def told(*summaries: dict[str, str] | None, names: tuple[str | None, ...] = ()) -> Any:
    """The last of these commits, the others before it."""
    facts = [
        row(i, NOW - HOUR + i * MINUTE, summary=summary, app_name=names[i - 1] if names else None)
        for i, summary in enumerate(summaries, 1)
    ]
    return stream_epoch(facts[-1], facts[-2::-1])


@pytest.mark.parametrize(
    ("summaries", "order", "missing", "earlier"),
    [
        ([spark("a", 0)], "first", None, None),
        ([spark("a", 40), None, spark("b", 7), spark("a", 41)], "next", None, "1"),
        ([spark("a", 38), spark("a", 41)], "gap", (39, 40), "1"),
        ([spark("a", 41), spark("a", 41)], "repeated", None, "1"),
        ([spark("a", 41), spark("b", 0)], "new_query", None, "1"),
        ([spark("a", 41), spark("b", 7)], "first", None, None),
        ([spark("a", 41), spark("a", "many")], "not_judged", None, "1"),
        ([spark("a", "many"), spark("a", 3)], "not_judged", None, "1"),
        ([flink("j", 3), flink("j", 9)], "not_judged", None, "1"),
        ([spark("a", 3), flink("j", 1)], "not_judged", None, None),
    ],
)
def test_epochs_of_a_query_follow_each_other_or_the_commit_says_how_they_do_not(
    summaries: list[dict[str, str] | None], order: str, missing: tuple[int, int] | None, earlier: str | None
) -> None:
    found = told(*summaries)
    assert found.order == order
    assert (found.missing_first, found.missing_last) == (missing or (None, None))
    assert (found.earlier.snapshot_id if found.earlier else None) == earlier


def test_a_query_of_an_application_of_another_name_is_not_the_stream_before() -> None:
    queries = (spark("a", 41), spark("b", 0))
    assert told(*queries, names=("clicks", "orders")).order == "first"
    assert told(*queries, names=("clicks", "clicks")).earlier.number == 41


def test_a_commit_of_no_stream_has_none() -> None:
    assert told({"operation": "append"}) is None


def test_the_page_of_a_commit_names_the_query_and_the_epoch_and_says_when_earlier_ones_are_not_known() -> None:
    rows = [row(i, NOW - HOUR + i * MINUTE, summary=spark("a", epoch)) for i, epoch in ((1, 38), (2, 41))]
    engine = lake(rows, [moved(each.snapshot_id, each.committed_at or 0) for each in rows])
    made = parts(engine)

    def stream() -> dict[str, Any]:
        found: dict[str, Any] = msgspec.to_builtins(asyncio.run(made.backend.commit_details.detail(NAME, 2)).stream)
        return found

    assert stream() == {
        "engine": "spark",
        "query_id": "a",
        "number": 41,
        "order": "gap",
        "missing_first": 39,
        "missing_last": 40,
        "earlier": {"snapshot_id": "1", "query_id": "a", "number": 38},
    }
    engine.failure = SourceUnavailable("meta", "no storage")
    made.store.apply(_watched(rows[1]))
    assert stream()["order"] == "not_judged"


def _watched(fact: Any) -> Any:
    return Facts([msgspec.structs.replace(fact, snapshot_id=2)], [])
