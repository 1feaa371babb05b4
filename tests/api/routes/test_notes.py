"""Notes on the wire: written, edited, deleted, listed and limited; what callers send is shown as it was sent."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from access_kit import guarded
from finding_world import World
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.events import AlertFact
from limnograph.wiring.server import ServerServices
from serving_kit import BIG, HOUR, MINUTE, NOW, UUID, FixedClock, client, lake, parts, row

NOTES = "/api/v1/notes"
ON_TABLE = {"scope": "table", "table": "lake.sales.orders"}
NOW_MS = NOW // 1000


def made(**given: Any) -> ServerServices:
    return parts(lake([row(BIG, NOW - HOUR, 10)]), **given)


def post(server: ServerServices, *bodies: dict[str, Any], gate: Any = None, **headers: Any) -> list[httpx.Response]:
    async def sent() -> list[httpx.Response]:
        async with client(server, **({"gate": gate} if gate else {})) as http:
            return [await http.post(NOTES, json=body, headers=headers.get("headers")) for body in bodies]

    return asyncio.run(sent())


def listed(server: ServerServices, query: str = "") -> dict[str, Any]:
    async def sent() -> httpx.Response:
        async with client(server) as http:
            return await http.get(f"{NOTES}?{query}")

    answer = asyncio.run(sent())
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def note(key: str = "k", text: str = "seen", **more: Any) -> dict[str, Any]:
    return {"key": key, "text": text, **ON_TABLE, **more}


def test_a_note_is_stored_with_its_author_and_listed_for_everyone() -> None:
    server = made()
    (answer,) = post(server, note(text="two\r\nlines ", author="Ada"))
    assert answer.status_code == 202
    written = answer.json()
    assert (written["text"], written["author"], written["scope"], written["table_uuid"]) == (
        "two\nlines",
        "Ada",
        "table",
        UUID,
    )
    assert (written["at"], written["edits"], written["deleted"], written["from"]) == (NOW_MS, 0, False, None)
    assert listed(server)["rows"] == [written]
    assert listed(server, "table=lake.sales.orders&kind=note&scope=table")["total"] == 1
    assert listed(server, "kind=owner")["total"] == 0


def test_a_repeated_key_is_one_note_and_another_text_under_it_a_conflict() -> None:
    server = made()
    first, again, other = post(server, note(), note(), note(text="else"))
    assert (first.json(), again.status_code) == (again.json(), 202)
    assert (other.status_code, other.json()["type"], other.json()["note"]["text"]) == (409, "conflict", "seen")
    assert listed(server)["total"] == 1


def test_a_key_belongs_to_its_caller(tmp_path: Path) -> None:
    server, guard = made(), guarded(tmp_path)
    ada, bob = (guard.bearer("annotate", "read", name=name) for name in ("ada", "bob"))
    (one,) = post(server, note(), gate=guard.gate, headers=ada)
    (two,) = post(server, note(), gate=guard.gate, headers=bob)
    assert one.json()["note_id"] != two.json()["note_id"]
    assert {one.json()["author"], two.json()["author"]} == {"ada", "bob"}


def test_the_second_of_two_editors_gets_the_newer_note_and_loses_nothing() -> None:
    server = made()
    (first,) = post(server, note())
    seen = first.json()["event_id"]
    ada = {"key": "a", "replaces": seen, "text": "by Ada", "author": "Ada"}
    bob = {"key": "b", "replaces": seen, "text": "by Bob", "author": "Bob"}
    one, two = post(server, ada, bob)
    assert (one.status_code, one.json()["edits"], one.json()["note_id"]) == (202, 1, first.json()["note_id"])
    assert two.status_code == 409
    newer = two.json()["note"]
    assert (newer["text"], newer["author"]) == ("by Ada", "Ada")
    (merged,) = post(server, {**bob, "replaces": newer["event_id"], "text": "by Ada and Bob"})
    assert (merged.status_code, merged.json()["text"], merged.json()["edits"]) == (202, "by Ada and Bob", 2)
    (repeat,) = post(server, ada)
    assert repeat.status_code == 202, "a repeat of the first edit is none of the second"
    assert listed(server)["rows"] == [merged.json()]


def test_two_servers_that_edit_one_note_at_once_store_one_edit() -> None:
    inbox, engine = MemoryInbox(), lake([row(BIG, NOW - HOUR, 10)])
    one = parts(engine, inbox=inbox)
    (first,) = post(one, note())
    other = parts(engine, inbox=inbox)
    seen = first.json()["event_id"]
    (won,) = post(one, {"key": "a", "replaces": seen, "text": "one"})
    (lost,) = post(other, {"key": "b", "replaces": seen, "text": "other"})
    assert (won.status_code, lost.status_code, lost.json()["note"]["text"]) == (202, 409, "one")
    assert listed(other)["rows"] == listed(one)["rows"]


def test_an_edit_without_text_deletes_and_a_deleted_note_can_be_written_again() -> None:
    server = made()
    (first,) = post(server, note())
    (gone,) = post(server, {"key": "d", "replaces": first.json()["event_id"], "text": " "})
    assert (gone.status_code, gone.json()["deleted"], listed(server)["total"]) == (202, True, 0)
    (back,) = post(server, {"key": "e", "replaces": gone.json()["event_id"], "text": "back"})
    assert (back.json()["deleted"], listed(server)["rows"][0]["text"]) == (False, "back")


def test_notes_survive_a_restart_from_the_inbox_and_from_the_meta_table() -> None:
    world = World()
    (first,) = post(world.server, note())
    post(world.server, {"key": "e", "replaces": first.json()["event_id"], "text": "edited"})
    before = listed(world.server)["rows"]
    assert listed(world.start())["rows"] == before
    world.drained()
    empty = MemoryInbox()  # an hour later the inbox has forgotten them
    again = parts(world.engine, clock=world.clock, inbox=empty)
    assert listed(again)["rows"] == before
    (answer,) = post(again, {"key": "f", "replaces": before[0]["event_id"], "text": "later"})
    assert (answer.status_code, answer.json()["edits"]) == (202, 2)
    (late,) = post(again, {"key": "g", "replaces": first.json()["event_id"], "text": "of a page that was open"})
    assert (late.status_code, late.json()["note"]["text"]) == (409, "later")


def test_before_the_meta_table_was_read_notes_are_incomplete_and_edits_are_retried() -> None:
    engine = MemoryEngine()
    engine.failure = SourceUnavailable("meta", "refused")
    server = parts(engine)
    assert listed(server)["complete"] is False
    (edit,) = post(server, {"key": "e", "replaces": "0" * 32, "text": "x"})
    assert (edit.status_code, edit.headers["retry-after"]) == (503, "10")
    engine.failure = None
    server.notes.catch_up()
    (edit,) = post(server, {"key": "e", "replaces": "0" * 32, "text": "x"})
    assert (edit.status_code, listed(server)["complete"]) == (404, True)


def test_every_kind_of_target_is_found_and_drawn_at_its_time() -> None:
    world = World()
    world.later(MINUTE)
    commit = world.burst()
    (opened,) = world.later(MINUTE)
    alert = AlertFact(fingerprint="f1", starts_at=NOW - MINUTE + 7, status="firing", alert_name="x")
    asyncio.run(world.server.alerts.accept([alert]))
    span = {"from": NOW_MS - 60_000, "to": NOW_MS}
    answers = post(
        world.server,
        note("1", scope="finding", target_id=opened.finding_id) | {"table": None},
        note("2", scope="commit", target_id=str(commit)),
        note("3", scope="alert", target_id="f1", starts_at=(NOW - MINUTE) // 1000) | {"table": None},
        note("4", scope="range", **span),
        note("5"),
    )
    assert [answer.status_code for answer in answers] == [202] * 5, [answer.text for answer in answers]
    finding, made_commit, fired, ranged, table = (answer.json() for answer in answers)
    assert (finding["target_id"], finding["from"], finding["table"]) == (
        opened.finding_id,
        (opened.opened_at or 0) // 1000,
        "orders",
    )
    assert (made_commit["target_id"], made_commit["from"]) == (str(commit), (NOW + MINUTE) // 1000)
    assert (fired["target_id"], fired["from"], fired["table"]) == ("f1", (NOW - MINUTE) // 1000, None)
    assert (ranged["from"], ranged["to"], table["from"]) == (span["from"], span["to"], None)
    of_table = listed(world.server, "table=lake.sales.orders")
    assert {each["scope"] for each in of_table["rows"]} == {"finding", "commit", "range", "table"}
    drawn = listed(world.server, f"table=lake.sales.orders&from={NOW_MS - 1000}&to={NOW_MS + 1000}")
    assert [each["scope"] for each in drawn["rows"]] == ["range"]
    assert listed(world.server, "scope=alert&target_id=f1")["total"] == 1


@pytest.mark.parametrize(
    ("body", "field", "said"),
    [
        (note(text="x" * 4_001), "text", "at most 4,000"),
        (note(text=" "), "text", "is required"),
        (note(text="a\x00b"), "text", "U+0000"),
        (note(text="a\x1b[31mb"), "text", "U+001B"),
        ({"key": "k", "text": "x"}, "scope", "is required"),
        (note(kind="ack", until=NOW_MS + 1000), "kind", "findings only"),
        (note(scope="finding", target_id="f"), "table", "omit it"),
        (note(scope="commit"), "target_id", "is required"),
        (note(scope="commit", target_id="many"), "target_id", "snapshot id"),
        (note(scope="commit", target_id="9" * 19), "target_id", "snapshot id"),
        (note(scope="range", **{"from": 5, "to": 5}), "to", "later than from"),
        (note(until=NOW_MS + 1000), "until", "kind ack only"),
        (note(kind="owner", text="a\nb"), "text", "one line"),
        (note(kind="owner", text="x" * 101), "text", "one line"),
        (note(table="orders"), "table", "catalog.namespace.table"),
        (note(author="a\nb"), "author", "one line"),
        (note(author="x" * 101), "author", "one line"),
        (note(key=""), "key", "length"),
        (note(colour="red"), "colour", "not a field"),
    ],
)
def test_a_wrong_field_is_named_with_the_remedy(body: dict[str, Any], field: str, said: str) -> None:
    (answer,) = post(made(), body)
    assert (answer.status_code, answer.json()["field"]) == (400, field), answer.text
    assert said in answer.json()["detail"]


def test_an_edit_keeps_the_target_of_its_note() -> None:
    server = made()
    (first,) = post(server, note())
    for field, value in (("scope", "table"), ("kind", "note"), ("target_id", "x"), ("from", 5)):
        (answer,) = post(server, {"key": "e", "replaces": first.json()["event_id"], "text": "x", field: value})
        assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    "body",
    [
        note(table="lake.sales.nothing"),
        note(scope="commit", target_id="77"),
        note(scope="finding", target_id="f" * 32) | {"table": None},
        note(scope="alert", target_id="unknown") | {"table": None},
    ],
)
def test_a_note_on_something_unknown_is_not_found(body: dict[str, Any]) -> None:
    (answer,) = post(made(), body)
    assert (answer.status_code, answer.json()["type"]) == (404, "not-found"), answer.text


def test_a_body_that_is_too_large_is_refused() -> None:
    (answer,) = post(made(), note(text="x" * (1 << 20)))
    assert (answer.status_code, answer.json()["type"]) == (413, "too-large")


def test_writing_needs_the_scope_annotate_and_the_author_is_the_caller(tmp_path: Path) -> None:
    server, guard = made(), guarded(tmp_path)
    (nobody,) = post(server, note(), gate=guard.gate)
    (reader,) = post(server, note(), gate=guard.gate, headers=guard.bearer("read", "webhook"))
    (posing,) = post(server, note(author="Eve"), gate=guard.gate, headers=guard.bearer("annotate", name="bob"))
    (writer,) = post(server, note(), gate=guard.gate, headers=guard.bearer("annotate", name="ada"))
    assert (nobody.status_code, reader.status_code) == (401, 403)
    assert (posing.status_code, posing.json()["field"]) == (400, "author")
    assert (writer.status_code, writer.json()["author"]) == (202, "ada")


def test_sixty_writes_a_minute_are_accepted_from_a_caller(tmp_path: Path) -> None:
    clock = FixedClock()
    server, guard = made(clock=clock), guarded(tmp_path)
    ada, bob = (guard.bearer("annotate", name=name) for name in ("ada", "bob"))
    answers = post(server, *(note(str(i)) for i in range(61)), gate=guard.gate, headers=ada)
    assert [answer.status_code for answer in answers] == [202] * 60 + [429]
    assert answers[-1].headers["retry-after"] == "60"
    assert post(server, note(), gate=guard.gate, headers=bob)[0].status_code == 202
    clock.micros += MINUTE
    assert post(server, note("60"), gate=guard.gate, headers=ada)[0].status_code == 202


def test_a_target_holds_two_hundred_notes() -> None:
    clock = FixedClock()
    server = made(clock=clock)
    for minute in range(4):
        clock.micros = NOW + minute * MINUTE
        answers = post(server, *(note(f"{minute}-{i}") for i in range(50)))
        assert {answer.status_code for answer in answers} == {202}
    clock.micros += MINUTE
    full, other = post(server, note("more"), note("else", kind="owner", text="ada"))
    assert (full.status_code, full.json()["field"], "delete one" in full.json()["detail"]) == (400, "target_id", True)
    assert other.status_code == 400, "an owner is a note of its target, too"
    rows = listed(server, "limit=500")["rows"]
    (gone,) = post(server, {"key": "d", "replaces": rows[0]["event_id"]})
    assert (gone.status_code, post(server, note("more"))[0].status_code) == (202, 202)


def test_pages_of_notes_continue_where_the_last_one_ended() -> None:
    clock = FixedClock()
    server = made(clock=clock)
    for i in range(5):
        clock.micros += MINUTE
        post(server, note(str(i), text=f"n{i}"))
    first = listed(server, "limit=2&table=lake.sales.orders")
    second = listed(server, f"limit=2&cursor={first['next_cursor']}")
    third = listed(server, f"limit=2&cursor={second['next_cursor']}")
    texts = [each["text"] for page in (first, second, third) for each in page["rows"]]
    assert (texts, third["next_cursor"]) == (["n4", "n3", "n2", "n1", "n0"], None)


HOSTILE = '<img src=x onerror=alert(1)> [a](javascript:x) @all =HYPERLINK("http://x") ```\n| a |\n# b \u202e'


def test_hostile_text_is_returned_as_it_was_sent() -> None:
    server = made()
    (answer,) = post(server, note(text=HOSTILE, author="=cmd()|<b>"))
    assert answer.headers["content-type"] == "application/json"
    assert (answer.json()["text"], answer.json()["author"]) == (HOSTILE, "=cmd()|<b>")
    assert listed(server)["rows"][0]["text"] == HOSTILE


def test_a_note_is_announced_on_the_stream_by_its_ids_only() -> None:
    server = made()

    async def act() -> list[Any]:
        reader = server.live.open("test", None)
        async with client(server) as http:
            answer = await http.post(NOTES, json=note(text="secret words"))
            await http.post(NOTES, json=note(text="secret words"))
        events = await reader.next(1.0)
        reader.close()
        return [answer.json(), events]

    written, events = asyncio.run(act())
    (event,) = events or []
    data = json.loads(event.data)
    assert (event.kind, data["note_id"], data["event_id"]) == ("note", written["note_id"], written["event_id"])
    assert (data["scope"], data["table"], b"secret" in event.data) == ("table", "orders", False)
