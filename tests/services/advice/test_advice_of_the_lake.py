"""The advice of all tables: which are evaluated when, in which order plans are queued, and what is recorded of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from advised_lake import AdvisedLake, evaluate
from limnograph.domain.advice.prices import Prices
from limnograph.domain.errors import InvalidInput, NotFound, SourceUnavailable
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.queries import MaintenanceQuery
from limnograph.services.advice.pages import NOT_YET
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE

ORDERS = TableName("lake", "sales", "orders")


@pytest.fixture
def world(tmp_path: Path) -> AdvisedLake:
    return AdvisedLake(tmp_path)


def queued(made: ServerServices, **given: object) -> list[tuple[int, str, str]]:
    assert made.backend.maintenance is not None
    rows = made.backend.maintenance.page(MaintenanceQuery(**given)).rows  # type: ignore[arg-type]
    return [(row.rank, row.table, row.recommendation.rule) for row in rows]


def recorded(world: AdvisedLake) -> list[PlanFact]:
    return [msgspec.json.decode(item.payload, type=PlanFact) for item in world.inbox.items("plan")]


def test_a_table_is_evaluated_once_and_again_only_when_something_changed(world: AdvisedLake) -> None:
    world.add("orders", 40)
    made = world.start()
    assert evaluate(made) == 1
    world.later(made, 11_000_000)
    assert world.source.reads == ["orders"]
    world.tables["orders"].append(world.tables["orders"].file("eu", size=1))
    world.observe("orders")
    world.later(made, HOUR)
    assert world.source.reads == ["orders", "orders"]
    world.later(made, HOUR)
    assert len(world.source.reads) == 2
    world.later(made, 6 * HOUR)
    assert len(world.source.reads) == 3


def test_a_finding_that_opens_makes_its_table_the_next_one(world: AdvisedLake) -> None:
    world.add("orders", 40)
    world.add("clicks", 1, seed=2)
    made = world.start()
    world.later(made, MINUTE)
    assert {fact.table for fact in made.evaluator.board.open} == {"orders"}
    assert world.source.reads[0] == "orders"


def test_one_table_that_cannot_be_read_does_not_stop_the_others(world: AdvisedLake) -> None:
    world.add("orders", 40)
    world.add("clicks", 40, seed=2)
    (world.folder / "clicks" / "metadata").rename(world.folder / "gone")
    made = world.start()
    evaluate(made)
    assert made.backend.maintenance is not None
    assert [row[1] for row in queued(made)] == ["orders"]
    answer = made.backend.maintenance.table(TableName("lake", "sales", "clicks"))
    assert (answer.advice, answer.evaluated_at) == (None, None)
    assert "cannot be read" in (answer.problem or "")
    assert made.backend.maintenance.page(MaintenanceQuery()).notes == ["1 tables could not be evaluated."]


def test_an_evaluation_that_fails_later_keeps_the_last_advice(world: AdvisedLake) -> None:
    world.add("orders", 40)
    made = world.start()
    evaluate(made)
    world.source.failure = SourceUnavailable("storage", "no route to host")
    world.later(made, 7 * HOUR)
    assert made.backend.maintenance is not None
    answer = made.backend.maintenance.table(ORDERS)
    assert answer.advice is not None
    assert "no route to host" in (answer.problem or "")


def test_the_queue_is_ordered_filtered_and_paged(world: AdvisedLake) -> None:
    for seed, (name, files) in enumerate({"few": 30, "many": 400, "some": 90}.items()):
        world.add(name, files, seed=seed)
    made = world.start()
    evaluate(made)
    assert queued(made) == [(1, "many", "compact"), (2, "some", "compact"), (3, "few", "compact")]
    assert queued(made, text="SALES.F") == [(3, "few", "compact")]
    assert queued(made, rule="expire") == queued(made, owner="ada") == []
    assert made.backend.maintenance is not None
    first = made.backend.maintenance.page(MaintenanceQuery(limit=2))
    assert first.next_cursor is not None
    assert queued(made, limit=2, cursor=first.next_cursor) == [(3, "few", "compact")]
    assert first.counts.recommended == 3
    assert first.choices.rules == ["compact"]
    with pytest.raises(InvalidInput, match="cursor"):
        queued(made, rule="compact", cursor=first.next_cursor)


def test_prices_of_the_settings_are_those_of_all_costs(world: AdvisedLake) -> None:
    world.add("orders", 40)
    free, dear = (world.start(Prices(currency="EUR", vcpu_hour=price, is_default=False)) for price in (0.0, 1_000.0))
    costs = []
    for made in (free, dear):
        evaluate(made)
        assert made.backend.maintenance is not None
        page = made.backend.maintenance.page(MaintenanceQuery())
        assert (page.currency, page.prices_are_default) == ("EUR", False)
        costs.append(page.totals.cost or 0.0)
    assert costs[1] > 100 * costs[0]


def test_a_plan_is_recorded_once_and_withdrawn_when_it_is_no_longer_recommended(world: AdvisedLake) -> None:
    table = world.add("orders", 40)
    made = world.start()
    evaluate(made)
    world.later(made, 7 * HOUR)
    (proposed,) = recorded(world)
    assert (proposed.seq, proposed.state, proposed.attempt, proposed.rule) == (1, "proposed", 1, "compact")
    assert (proposed.files_in, proposed.files_out) == (40, 1)
    assert '"files":40' in (proposed.arguments or "")
    table.compact(*table.files())
    world.observe("orders")
    world.later(made, 2 * HOUR)
    proposed, withdrawn = recorded(world)
    assert (withdrawn.plan_id, withdrawn.seq, withdrawn.state) == (proposed.plan_id, 2, "withdrawn")
    assert made.backend.maintenance is not None
    assert [each.state for each in made.backend.maintenance.table(ORDERS).plans] == ["withdrawn"]


def test_a_server_that_starts_later_continues_the_numbers_of_a_plan(world: AdvisedLake) -> None:
    table = world.add("orders", 40)
    files = table.files()
    evaluate(world.start())
    table.compact(*files)
    world.observe("orders")
    evaluate(world.start())
    table.overwrite(files, table.files())
    world.observe("orders")
    evaluate(world.start())
    numbers = [(fact.seq, fact.state, fact.attempt) for fact in recorded(world)]
    assert numbers == [(1, "proposed", 1), (2, "withdrawn", 1), (3, "proposed", 2)]


def test_a_table_without_advice_says_why(world: AdvisedLake) -> None:
    world.add("orders", 40)
    made = world.start()
    assert made.backend.maintenance is not None
    assert made.backend.maintenance.table(ORDERS).problem == NOT_YET
    with pytest.raises(NotFound):
        made.backend.maintenance.table(TableName("lake", "sales", "nothing"))


def test_a_commit_after_the_evaluation_is_a_guard_that_does_not_hold(world: AdvisedLake) -> None:
    table = world.add("orders", 40)
    made = world.start()
    evaluate(made)
    table.now_ms = world.clock.micros // 1_000
    table.append(table.file("eu", size=1))
    world.observe("orders")
    made.store.refresh()
    assert made.backend.maintenance is not None
    rows = made.backend.maintenance.page(MaintenanceQuery()).rows
    guard = rows[0].recommendation.guards[-1]
    assert (guard.code, guard.ok) == ("unchanged", False)
    assert guard.text.startswith("One commit since the plan was made, the last 2 h ago")
    advice = made.backend.maintenance.table(ORDERS).advice
    assert advice is not None
    assert advice.recommendations[0].guards[-1] == guard


def test_a_table_that_someone_looks_at_is_evaluated_next(world: AdvisedLake) -> None:
    for seed, name in enumerate(("a", "b", "c", "orders")):
        world.add(name, 3, seed=seed + 1)
    made = world.start()
    assert made.backend.maintenance is not None
    assert made.advisor is not None
    made.advisor.evaluate_next()
    last = {"a", "b", "c", "orders"} - set(world.source.reads)
    looked_at = min(last)
    made.backend.maintenance.table(TableName("lake", "sales", looked_at))
    made.advisor.evaluate_next()
    assert world.source.reads[1] == looked_at
    evaluate(made)
    assert sorted(world.source.reads) == ["a", "b", "c", "orders"]


def test_a_dropped_table_leaves_the_queue(world: AdvisedLake) -> None:
    from serving_kit import change

    table = world.add("orders", 40)
    made = world.start()
    evaluate(made)
    at = world.clock.micros
    world.engine.append([], [change("dropped", at, None, subject="lake.sales.orders", table_uuid=table.table_uuid)])
    world.later(made, MINUTE)
    assert queued(made) == []
