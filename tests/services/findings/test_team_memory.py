"""What a team wrote on findings, as lists and the fleet show it: acknowledgements that end, owners, counts of notes."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from finding_world import DAY, World
from limnograph.adapters.memory.inbox import MemoryInbox
from limnograph.domain.answers.findings import AcknowledgedFilter, FindingsPage
from limnograph.domain.answers.notes import TeamNote
from limnograph.domain.answers.tables import TableRow
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.findings import FindingEffectFact, FindingFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import FindingsQuery, FleetQuery
from limnograph.domain.time import Millis
from limnograph.services.notes.drafts import NoteDraft
from limnograph.wiring.server import ServerServices, build_services
from limnograph.wiring.server_options import ServerOptions
from serving_kit import HOUR, MINUTE, NOW, UUID, change, parts, row

SLOWER = FindingEffectFact(job_name="rollup", verdict="slower", ratio=3.0, ratio_low=2.6, ratio_high=3.4, runs=6)
UNSURE = FindingEffectFact(job_name="rollup", verdict="unknown", runs=7)


class TeamWorld(World):
    """A world with an open burst."""

    def __init__(self) -> None:
        super().__init__()
        self.later(MINUTE)
        self.burst()
        (self.opened,) = self.later(MINUTE)
        self.keys = 0

    def write(self, text: str = "", *, server: ServerServices | None = None, **given: Any) -> TeamNote:
        self.keys += 1
        draft = NoteDraft(key=str(self.keys), text=text, **given)
        return asyncio.run((server or self.server).backend.notes.accept(draft, "c", "ada"))

    def acknowledge(self, seconds: int, **given: Any) -> TeamNote:
        until = Millis(self.clock.micros // 1000 + seconds * 1000)
        return self.write(
            "planned", kind="ack", scope="finding", target_id=self.opened.finding_id, until=until, **given
        )

    def page(
        self, acknowledged: AcknowledgedFilter = "false", *, server: ServerServices | None = None, **given: Any
    ) -> FindingsPage:
        query = FindingsQuery(start=Millis(0), end=Millis(2**50), acknowledged=acknowledged, **given)
        return (server or self.server).backend.findings.page(query)

    def rows(self) -> list[TableRow]:
        query = FleetQuery(start=Millis((self.clock.micros - DAY) // 1000), end=Millis(self.clock.micros // 1000))
        return asyncio.run(self.server.backend.fleet.page(query)).rows

    def effects(self, effect: FindingEffectFact) -> list[FindingFact]:
        self.server.evaluator.measured({self.opened.finding_id: [effect]})
        return self.later(MINUTE)


def test_an_acknowledged_finding_is_hidden_counted_and_listed_on_request() -> None:
    world = TeamWorld()
    assert (world.page().total, world.page().acknowledged) == (1, 0)
    note = world.acknowledge(3600)
    page = world.page()
    assert (page.rows, page.total, page.acknowledged, page.counts.warning) == ([], 0, 1, 0)
    for chosen in ("true", "any"):
        (finding,) = world.page(chosen).rows
        assert (finding.acknowledged_until, finding.acknowledged_by) == (note.until, "ada")
        assert finding.state == "open", "an acknowledgement closes nothing"
    assert world.page(table="lake.sales.orders").acknowledged == 1
    assert world.page(severity="critical").acknowledged == 0
    assert world.page(code="stale").acknowledged == 0
    detail = asyncio.run(world.server.backend.findings.detail(world.opened.finding_id))
    assert detail.finding.acknowledged_until == note.until


def test_an_acknowledgement_expires_at_its_time() -> None:
    world = TeamWorld()
    world.acknowledge(3600)
    world.clock.micros += HOUR - 1
    assert (world.page().total, world.page().acknowledged) == (0, 1)
    version = world.server.backend.versions.of(TableName("lake", "sales", "orders"))
    world.clock.micros += 1
    assert (world.page().total, world.page().acknowledged) == (1, 0)
    assert world.page().rows[0].acknowledged_until is None
    assert world.server.backend.versions.of(TableName("lake", "sales", "orders")) != version, "cached pages are old"


def test_a_finding_returns_when_its_severity_rises_and_stays_when_it_falls_again() -> None:
    world = TeamWorld()
    world.acknowledge(86_400)
    (raised,) = world.effects(SLOWER)
    assert raised.severity == "critical"
    assert (world.page().total, world.page().acknowledged) == (1, 0)
    world.effects(UNSURE)
    (fallen,) = world.later(HOUR)
    assert fallen.severity == "warning"
    assert (world.page().total, world.page().acknowledged) == (1, 0)
    again = world.start()
    again.team.catch_up()
    assert world.page(server=again).acknowledged == 0, "a restart forgets no rise"
    world.acknowledge(3600)
    assert world.page().acknowledged == 1, "it can be acknowledged again"


def test_whoever_acknowledges_a_critical_finding_hides_it_while_it_is_critical() -> None:
    world = TeamWorld()
    world.effects(SLOWER)
    world.acknowledge(3600)
    assert (world.page().total, world.page().acknowledged) == (0, 1)
    world.effects(UNSURE)
    assert world.page().acknowledged == 1


def test_an_acknowledgement_survives_a_restart_with_an_empty_inbox() -> None:
    world = TeamWorld()
    world.acknowledge(86_400)
    world.drained()
    again = parts(world.engine, clock=world.clock, inbox=MemoryInbox())
    again.team.catch_up()
    assert (world.page(server=again).total, world.page(server=again).acknowledged) == (0, 1)


def test_the_newest_acknowledgement_counts_and_its_deletion_ends_all() -> None:
    world = TeamWorld()
    world.acknowledge(86_400)
    second = world.acknowledge(60)
    (finding,) = world.page("true").rows
    assert finding.acknowledged_until == second.until
    world.write(replaces=second.event_id)
    assert (world.page().total, world.page().acknowledged) == (1, 0)


def test_an_acknowledgement_is_extended_by_an_edit_that_knows_the_severity() -> None:
    world = TeamWorld()
    note = world.acknowledge(60)
    world.effects(SLOWER)
    assert world.page().acknowledged == 0
    until = Millis(world.clock.micros // 1000 + 3_600_000)
    world.write("still planned", replaces=note.event_id, until=until)
    assert world.page().acknowledged == 1


def test_a_closed_finding_cannot_be_acknowledged() -> None:
    world = TeamWorld()
    note = world.acknowledge(60)
    world.commit("replace", files=110, added_data_files=10, removed_data_files=50_000)
    world.later(MINUTE)
    with pytest.raises(InvalidInput, match="is closed"):
        world.acknowledge(60)
    until = Millis(world.clock.micros // 1000 + 3_600_000)
    with pytest.raises(InvalidInput, match="the finding is closed"):
        world.write("longer", replaces=note.event_id, until=until)
    world.write("fixed by compaction", scope="finding", target_id=world.opened.finding_id)
    assert world.page(state="closed").rows[0].notes == 1


def test_notes_are_counted_and_unknown_until_they_were_read() -> None:
    world = TeamWorld()
    assert world.page().rows[0].notes == 0
    first = world.write("one", scope="finding", target_id=world.opened.finding_id)
    world.write("two", scope="finding", target_id=world.opened.finding_id)
    world.write("of the table", scope="table", table="lake.sales.orders")
    assert world.page().rows[0].notes == 2
    world.write(replaces=first.event_id)
    assert world.page().rows[0].notes == 1
    unread = build_services(ServerOptions(world.engine, world.inbox, world.clock))
    unread.store.refresh()
    unread.evaluator.evaluate()
    assert world.page(server=unread).rows[0].notes is None


def test_the_owner_is_that_of_the_finding_then_of_the_table_then_its_property_then_of_the_settings() -> None:
    world = TeamWorld()
    owned = parts(world.engine, clock=world.clock, inbox=world.inbox, owners=(("lake.*.orders", "team-settings"),))
    assert world.page(server=owned).rows[0].owner == "team-settings"
    world.engine.append(
        [row(999, NOW + HOUR)], [change("property", NOW - DAY, "team-property", subject="owner")]
    )  # the next pass
    owned.store.refresh()
    owned.team.owners.refresh()
    assert world.page(server=owned).rows[0].owner == "team-property"
    of_table = world.write("team-table", kind="owner", scope="table", table="lake.sales.orders", server=owned)
    assert world.page(server=owned).rows[0].owner == "team-table"
    of_finding = world.write("bob", kind="owner", scope="finding", target_id=world.opened.finding_id, server=owned)
    assert world.page(server=owned).rows[0].owner == "bob"
    assert world.page(server=owned, owner="bob").total == 1
    assert world.page(server=owned, owner="team-table").total == 0
    world.write(replaces=of_finding.event_id, server=owned)
    world.write(replaces=of_table.event_id, server=owned)
    assert world.page(server=owned).rows[0].owner == "team-property"


def test_the_fleet_shows_owners_and_ranks_a_table_by_findings_that_are_not_acknowledged() -> None:
    world = TeamWorld()
    other = {"table_uuid": "0" * 36, "table": "carts"}
    names = [change("named", NOW - 40 * DAY, "x", subject="lake.sales.carts", **other)]
    world.engine.append([row(5_000, NOW - HOUR, 10, observed_at=NOW, **other)], names)
    world.later(MINUTE)
    world.write("team-sales", kind="owner", scope="table", table="lake.sales.orders")
    first, second = world.rows()
    assert (first.table, first.reason.severity, first.owner, second.owner) == ("orders", "warning", "team-sales", None)
    world.acknowledge(3600)
    rows = {each.table: each for each in world.rows()}
    assert [each.table for each in world.rows()] == ["carts", "orders"], "now both are in order, by name"
    assert (rows["orders"].reason.severity, len(rows["orders"].findings)) == ("ok", 1)
    assert rows["orders"].findings[0].acknowledged_by == "ada"
    world.clock.micros += HOUR
    assert [each.table for each in world.rows()] == ["orders", "carts"]
    assert rows["orders"].table_uuid == UUID
