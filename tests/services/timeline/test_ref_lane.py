"""What refs add to the lane of commits: flags where they moved otherwise than by a commit, and what a ref leads to."""

import asyncio
import json
from typing import Any

import msgspec

from limnograph.domain.ids import TableName
from limnograph.domain.time import TimeRange
from serving_kit import HOUR, MINUTE, NOW, change, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
SPAN = TimeRange.parse((NOW - 6 * HOUR) // 1000, NOW // 1000, 60)
TAG = json.dumps({"type": "tag"})


def commits(rows: list[Any], changes: list[Any], ref: str | None = None) -> dict[str, Any]:
    made = parts(lake(rows, changes))
    answer = asyncio.run(made.backend.timelines.answer(NAME, SPAN, ("commits",), None, None, ref=ref))
    lane: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(answer))["lanes"][0]
    return lane


def told(lane: dict[str, Any]) -> list[tuple[str, str, str | None]]:
    return [(flag["ref"], flag["type"], flag["snapshot_id"]) for flag in lane["flags"]]


def test_a_rollback_of_main_is_a_flag_and_its_commits_are_not() -> None:
    rows = [row(1, NOW - 5 * HOUR), row(2, NOW - 4 * HOUR, parent_id=1), row(3, NOW - 3 * HOUR, parent_id=2)]
    log = [moved(1, NOW - 5 * HOUR), moved(2, NOW - 4 * HOUR), moved(3, NOW - 3 * HOUR), moved(1, NOW - HOUR)]
    lane = commits(rows, log)
    assert told(lane) == [("main", "branch", "1")]
    assert lane["flags"][0]["t"] == (NOW - HOUR) // 1000
    assert lane["off_ref"] is None


def test_branches_and_tags_are_flags_when_created_removed_or_rolled_back_but_not_when_they_advance() -> None:
    rows = [row(i, NOW - (6 - i) * HOUR, parent_id=i - 1 or None) for i in (1, 2, 3)]
    log = [moved(i, NOW - (6 - i) * HOUR) for i in (1, 2, 3)]
    refs = [
        change("ref", NOW - 5 * HOUR, "1", subject="audit"),
        change("ref", NOW - 4 * HOUR, "2", subject="audit"),  # a commit of its own
        change("ref", NOW - 2 * HOUR, "1", subject="audit"),
        change("ref", NOW - HOUR, "3", subject="v1", detail=TAG),
        change("ref", NOW - 30 * MINUTE, None, subject="v1"),
        change("ref", NOW - 8 * HOUR, "1", subject="early"),  # before what is shown
    ]
    assert told(commits(rows, [*log, *refs])) == [
        ("audit", "branch", "1"),
        ("audit", "branch", "1"),
        ("v1", "tag", "3"),
        ("v1", "tag", None),
    ]


def test_a_ref_leads_to_its_ancestors_only() -> None:
    rows = [
        row(1, NOW - 5 * HOUR),
        row(2, NOW - 4 * HOUR, parent_id=1),
        row(3, NOW - 3 * HOUR, parent_id=1, on_main=False),
        row(4, NOW - 2 * HOUR, parent_id=3, on_main=False),
    ]
    log = [moved(1, NOW - 5 * HOUR), moved(2, NOW - 4 * HOUR), change("ref", NOW - 2 * HOUR, "4", subject="audit")]
    assert commits(rows, log, "audit")["off_ref"] == ["2"]
    assert commits(rows, log, "main")["off_ref"] is None, "on_main says it"
    assert commits(rows, log, "nobody")["off_ref"] is None


def test_before_a_gap_in_the_chain_of_a_ref_nothing_is_claimed() -> None:
    rows = [
        row(1, NOW - 5 * HOUR),
        row(3, NOW - 3 * HOUR, parent_id=2, on_main=False),  # its parent was never read
        row(4, NOW - 2 * HOUR, parent_id=1),
    ]
    log = [moved(1, NOW - 5 * HOUR), moved(4, NOW - 2 * HOUR), change("ref", NOW - HOUR, "3", subject="audit")]
    assert commits(rows, log, "audit")["off_ref"] == ["4"]
