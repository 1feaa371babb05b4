"""Held bytes and costs on `/metrics`: known parts only, hostile names, and the limit of series."""

from __future__ import annotations

from limnograph.api.metrics.costs_exposition import CostsExposition
from limnograph.api.metrics.exposition import Exposition
from limnograph.domain.advice.document import MonthlyCost, TableBytes
from limnograph.domain.advice.fleet import TableCosts
from limnograph.domain.ids import TableName

ORDERS, CLICKS = TableName("lake", "sales", "orders"), TableName("lake", "web", 'cli"cks')


def size(held: int) -> TableBytes:
    return TableBytes(live=100, held=held, metadata=1, by_ref={}, by_age=[])


KNOWN = TableCosts(
    sizes={ORDERS: size(7), CLICKS: size(0)},
    costs={ORDERS: MonthlyCost(storage=2.5, held=0.25, requests=None, total=None)},
    currency="EUR",
)


def test_known_numbers_have_a_sample_and_unknown_ones_have_none() -> None:
    page = CostsExposition(100).render(KNOWN).decode().splitlines()
    orders = 'catalog="lake",table_namespace="sales",table="orders"'
    clicks = 'catalog="lake",table_namespace="web",table="cli\\"cks"'
    assert [line for line in page if not line.startswith("#")] == [
        f"lakehouse_table_held_bytes{{{orders}}} 7",
        f"lakehouse_table_held_bytes{{{clicks}}} 0",
        f'lakehouse_table_cost_per_month{{{orders},part="storage",currency="EUR"}} 2.5',
        f'lakehouse_table_cost_per_month{{{orders},part="held",currency="EUR"}} 0.25',
    ]
    assert sum(line.startswith("# HELP") for line in page) == 2


def test_beyond_the_limit_the_tables_that_hold_the_most_remain() -> None:
    costs = CostsExposition(4)
    assert b'table="orders"' in costs.render(KNOWN)
    assert costs.left_out == 1
    assert CostsExposition(4).render(TableCosts()) == b""


def test_the_page_has_them_and_counts_what_it_left_out() -> None:
    page = Exposition(lambda: (1, []), lambda: None, costs=lambda: KNOWN, max_series=40)().decode()
    assert 'lakehouse_table_held_bytes{catalog="lake",table_namespace="sales",table="orders"} 7' in page
    assert "limnograph_table_series_left_out 1.0" in page
