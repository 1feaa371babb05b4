"""Users of commits whose summary names none: from reports of the commits, in lists, filters and pages."""

import asyncio
from typing import Any

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import ReportFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import CommitsQuery
from serving_kit import HOUR, MINUTE, NOW, SECOND, change, lake, parts, row

DAY = 24 * HOUR
NAME = TableName("lake", "sales", "orders")
OLD = 4


def report(snapshot_id: int, user: str | None, at: int, **columns: Any) -> ReportFact:
    given = {"catalog": "lake", "namespace": "sales", "table": "orders", "kind": "commit", "outcome": "ok"} | columns
    return ReportFact(event_id=f"{snapshot_id} {user} {at}", snapshot_id=snapshot_id, user=user, at=at, **given)


def story() -> MemoryEngine:
    """1: in its summary; 2 and 4, of four days ago: in a report; 3: nowhere."""
    own = {1: {"user": "ada"}}
    times = {1: NOW - HOUR, 2: NOW - 2 * HOUR, 3: NOW - 3 * HOUR, OLD: NOW - 4 * DAY}
    engine = lake([row(number, at, **own.get(number, {})) for number, at in times.items()])
    engine.append(
        [],
        [],
        reports=[
            report(1, "not ada", times[1]),
            report(2, "Grace Hopper", times[2] + SECOND),
            report(OLD, "Grace Hopper", times[OLD] + MINUTE),
            report(3, "refused", times[3], outcome="conflict"),
            report(3, "of another table", times[3], table="other"),
            report(3, "of a dropped table", times[3] - 2 * HOUR),
            report(3, "reader", times[3], kind="scan"),
            report(3, None, times[3]),
        ],
    )
    return engine


def made(engine: MemoryEngine | None = None) -> Any:
    found = parts(engine or story())
    found.read_log.catch_up()
    return found


def listed(services: Any, **given: Any) -> list[CommitRow]:
    query = CommitsQuery(**{"start": (NOW - 6 * DAY) // 1000, "end": NOW // 1000, **given})
    return asyncio.run(services.backend.commits.page(query)).rows


def users(rows: list[CommitRow]) -> dict[int, str | None]:
    return {int(each.snapshot_id): each.user for each in rows}


def test_a_report_of_the_commit_names_the_user_where_its_summary_does_not() -> None:
    expected = {1: "ada", 2: "Grace Hopper", 3: None, OLD: "Grace Hopper"}
    services = made()
    for given in ({}, {"table": NAME}, {"sort": "files"}):
        assert users(listed(services, **given)) == expected


def test_the_filter_finds_what_the_list_shows() -> None:
    services = made()
    for given in ({}, {"table": NAME}, {"sort": "files"}):
        assert set(users(listed(services, user="HOPPER", **given))) == {2, OLD}
        assert set(users(listed(services, user="ada", **given))) == {1}
        assert listed(services, user="refused", **given) == []


def test_a_page_of_commits_in_memory_reads_no_reports() -> None:
    services = made()
    services.options.engine.failure = SourceUnavailable("meta", "down")
    start = (NOW - 8 * HOUR) // 1000
    assert users(listed(services, start=start)) == {1: "ada", 2: "Grace Hopper", 3: None}
    assert set(users(listed(services, start=start, user="grace"))) == {2}


def test_the_page_of_a_commit_names_its_user() -> None:
    services = made()
    for number, user in ((1, "ada"), (2, "Grace Hopper"), (3, None), (OLD, "Grace Hopper")):
        found = asyncio.run(services.backend.commit_details.detail(NAME, number))
        assert (found.commit.user, found.writer_user) == (user, user)


def test_a_renamed_table_keeps_the_users_that_were_reported_under_its_old_name() -> None:
    engine = story()
    engine.append([], [change("named", NOW - 9 * HOUR), change("named", NOW - MINUTE, table="renamed")])
    rows = listed(made(engine))
    assert {each.table for each in rows} == {"renamed"}
    assert users(rows)[2] == "Grace Hopper"


def test_a_page_changes_when_a_report_names_a_user() -> None:
    services = parts(story())
    before = [services.backend.versions.of(name) for name in (None, NAME)]
    services.read_log.catch_up()
    after = [services.backend.versions.of(name) for name in (None, NAME)]
    assert all(new != old for new, old in zip(after, before, strict=True))
