"""Objectives of cost: missed, kept, or not known, by the last evaluation of a table's advice."""

from __future__ import annotations

from pathlib import Path

import pytest

from advised_lake import AdvisedLake, evaluate
from limnograph.analysis.findings.storage.cost_objective import cost_level
from limnograph.domain.advice.document import MonthlyCost, TableBytes
from limnograph.domain.facts.findings import FindingFact
from limnograph.domain.objectives import Objective, Objectives
from limnograph.services.advice.cost_findings import CostFindings
from limnograph.services.findings.sentences import sentence_of
from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE

GB = 1 << 30


def level(storage: float | None, requests: float | None, limit: float, *, live: int = 10 * GB) -> float | None:
    total = None if storage is None or requests is None else storage + requests
    cost = MonthlyCost(storage=storage, held=0.0, requests=requests, total=total)
    size = TableBytes(live=live, held=0, metadata=0, by_ref={}, by_age=[])
    found = cost_level(size, cost, limit, "USD")
    return None if found is None else found.value


@pytest.mark.parametrize(
    ("storage", "requests", "expected"),
    [
        (1.0, 1.0, 0.0),  # 0.20 a GB, which is the limit
        (1.0, 1.01, 1.0),
        (1.0, None, None),  # reads may cost more
        (2.1, None, 1.0),  # whatever reads cost
    ],
)
def test_a_cost_is_missed_kept_or_not_known(
    storage: float | None, requests: float | None, expected: float | None
) -> None:
    assert level(storage, requests, 0.2) == expected


def test_an_empty_table_has_no_cost_of_a_live_gb() -> None:
    assert level(1.0, 1.0, 0.2, live=0) is None
    assert cost_level(None, None, 0.2, "USD") is None


def transitions(world: AdvisedLake, made: ServerServices, costs: CostFindings, micros: int) -> list[FindingFact]:
    world.later(made, micros)
    costs.observe(made.evaluator)
    return [fact for fact in made.evaluator.evaluate() if fact.code == "objective_missed"]


def test_a_table_that_costs_more_than_promised_is_a_finding_until_it_costs_less(tmp_path: Path) -> None:
    world = AdvisedLake(tmp_path)
    world.add("orders", 40)
    made = world.start()
    evaluate(made)
    assert made.advisor is not None
    advisor, limits = made.advisor, made.options.limits

    def observer(limit: float) -> CostFindings:
        promised = Objectives([Objective("lake.sales.orders", cost_per_gb_month=limit)])
        return CostFindings(lambda: advisor.board, promised, world.clock, limits)

    costs = observer(0.001)
    assert transitions(world, made, costs, MINUTE) == []
    (opened,) = transitions(world, made, costs, 11 * MINUTE)
    assert (opened.subject, opened.severity, opened.state) == ("cost_per_gb_month", "critical", "open")
    assert (opened.evidence or {}) == {"cost": "0.023", "threshold": "0.001", "currency": "USD"}
    shown = made.backend.findings.shown(opened, [opened])
    assert sentence_of(shown) == "a live GB costs 0.023 USD a month, above its objective of 0.001"
    unknown = observer(1.0)
    assert transitions(world, made, unknown, 2 * HOUR) == [], "reads are not known, and may cost more than the rest"
    assert [fact.finding_id for fact in made.evaluator.board.open if fact.code == "objective_missed"] == [
        opened.finding_id
    ]
    assert transitions(world, made, costs, HOUR) == [], "the same finding"
