"""Notes in memory: the same chains whatever the order in which events arrive, and whoever accepted them."""

from __future__ import annotations

import itertools
import threading

import msgspec
import pytest

from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.facts.notes import NoteFact
from limnograph.domain.time import Micros
from limnograph.ports.inbox import InboxItem
from limnograph.services.notes.registry import KIND, NoteRegistry, edit_id, first_id
from limnograph.services.notes.targets import finding_key, key_of_table
from serving_kit import MINUTE, NOW, UUID, FixedClock
from thread_kit import switching_often


def event(number: int, text: str | None = "x", *, replaces: NoteFact | None = None, **given: object) -> NoteFact:
    fields = {"kind": "note", "scope": "table", "table_uuid": UUID, "author": "ada", **given}
    own = first_id("c", str(number)) if replaces is None else edit_id(replaces.event_id)
    return NoteFact(
        event_id=own,
        at=Micros(NOW + number),
        text=text,
        replaces=replaces.event_id if replaces else None,
        **fields,  # type: ignore[arg-type]
    )


FIRST = event(0)
SECOND = event(1, "y", replaces=FIRST)
THIRD = event(2, None, replaces=SECOND)
OTHER = event(3, "z")


def registry(inbox: MemoryInbox | None = None, engine: MemoryEngine | None = None) -> NoteRegistry:
    return NoteRegistry(inbox or MemoryInbox(), engine or MemoryEngine(), FixedClock())


def seen(made: NoteRegistry) -> list[tuple[str, str | None, int, bool]]:
    return sorted((c.first.event_id, c.last.text, c.edits, c.deleted) for c in made.of_target(key_of_table(UUID, None)))


def accepted(inbox: MemoryInbox, fact: NoteFact, at: int = NOW) -> None:
    inbox.put([InboxItem(KIND, fact.event_id, msgspec.json.encode(fact), Micros(at))])


@pytest.mark.parametrize("order", list(itertools.permutations((FIRST, SECOND, THIRD, OTHER))))
def test_chains_do_not_depend_on_the_order_of_arrival(order: tuple[NoteFact, ...]) -> None:
    inbox = MemoryInbox()
    made = registry(inbox)
    for fact in order:
        accepted(inbox, fact)
        made.catch_up()
        made.catch_up()
    assert seen(made) == sorted([(FIRST.event_id, None, 2, True), (OTHER.event_id, "z", 0, False)])
    assert made.version() == made.version(UUID) == 4


def test_what_another_server_accepted_is_new_once() -> None:
    inbox = MemoryInbox()
    one, other = registry(inbox), registry(inbox)
    one.put(FIRST)
    assert one.catch_up() == []
    assert other.catch_up() == [FIRST]
    assert other.catch_up() == []


def test_meta_table_and_inbox_are_one_history() -> None:
    inbox, engine = MemoryInbox(), MemoryEngine()
    engine.append([], [], notes=[FIRST, SECOND])
    accepted(inbox, SECOND)
    accepted(inbox, THIRD)
    made = registry(inbox, engine)
    made.catch_up()
    assert seen(made) == [(FIRST.event_id, None, 2, True)]


def test_a_meta_table_that_does_not_respond_is_read_later() -> None:
    engine = MemoryEngine()
    engine.append([], [], notes=[FIRST])
    engine.failure = SourceUnavailable("meta", "refused")
    made = registry(engine=engine)
    assert (made.catch_up(), made.complete, made.count(key_of_table(UUID, None))) == ([], False, None)
    engine.failure = None
    assert (made.catch_up(), made.complete, made.count(key_of_table(UUID, None))) == ([FIRST], True, 1)


def test_of_two_edits_of_one_event_the_first_is_stored_for_both() -> None:
    inbox = MemoryInbox()
    one, other = registry(inbox), registry(inbox)
    one.put(FIRST)
    other.catch_up()
    mine, theirs = event(5, "mine", replaces=FIRST), event(6, "theirs", replaces=FIRST)
    assert one.put(mine) is mine
    assert other.put(theirs) == mine
    assert seen(one) == seen(other) == [(FIRST.event_id, "mine", 1, False)]


def test_threads_that_edit_one_note_lose_no_edit_and_store_each_once() -> None:
    """Each of two threads edits the newest event it knows, as often as it takes, fifty times."""
    inbox = MemoryInbox()
    made = [registry(inbox), registry(inbox)]
    made[0].put(FIRST)
    made[1].catch_up()

    def write(own: NoteRegistry, name: str) -> None:
        for number in range(50):
            text, last = f"{name}{number}", FIRST
            while True:
                while (later := own.successor(last.event_id)) is not None:
                    last = later
                sent = msgspec.structs.replace(event(0, text, replaces=last), at=Micros((last.at or 0) + 1))
                stored = own.put(sent)
                if stored.text == text:
                    break
                last = stored

    threads = [threading.Thread(target=write, args=(own, name)) for own, name in zip(made, "ab", strict=True)]
    with switching_often():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    for own in made:
        own.catch_up()
        assert own.version() == 101
        (chain,) = own.of_target(key_of_table(UUID, None))
        assert chain.edits == 100
    texts = {msgspec.json.decode(item.payload)["text"] for item in inbox.items(KIND)} - {"x"}
    assert texts == {f"{name}{number}" for name in "ab" for number in range(50)}


def test_the_newest_event_of_a_target_decides_on_its_owner() -> None:
    made = registry()
    made.catch_up()
    key = finding_key("f")
    given = {"kind": "owner", "scope": "finding", "target": "f"}
    first, second = event(0, "ada", **given), event(1, "bob", **given)
    made.put(second)
    made.put(first)
    found = made.newest("owner", key)
    assert found is not None
    assert found.text == "bob"
    made.put(event(2, None, replaces=second, **given))
    assert made.newest("owner", key) is None, "the older one does not come back"
    assert made.count(key) == 0, "an owner is no note"
    made.put(event(MINUTE, "eve", **given))
    assert [fact.text for fact in made.newest_of("owner")] == ["eve"]
