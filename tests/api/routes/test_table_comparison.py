"""The timeline of a table beside another table's: same axis, its own values, and errors that name the parameter."""

from __future__ import annotations

import asyncio
import uuid

import httpx
import pytest

from limnograph.wiring.server import ServerServices
from serving_kit import HOUR, MINUTE, NOW, client, lake, parts, row

FROM, TO = (NOW - 2 * HOUR) // 1000, NOW // 1000
PATH = f"/api/v1/tables/lake/sales/orders/timeline?from={FROM}&to={TO}&step=60&lanes=data_files,commits"


def world() -> ServerServices:
    other = {"table": "carts.v2", "namespace": "shop~dweb", "table_uuid": str(uuid.UUID(int=7))}
    rows = [
        row(1, NOW - 3 * HOUR, 10),
        row(2, NOW - HOUR, 20),
        row(5, NOW - 3 * HOUR, 700, **{**other, "table": "carts~dv2"}),
        row(6, NOW - 30 * MINUTE, 900, **{**other, "table": "carts~dv2"}),
    ]
    return parts(lake(rows))


def get(path: str) -> httpx.Response:
    async def sent() -> httpx.Response:
        async with client(world()) as http:
            return await http.get(path)

    return asyncio.run(sent())


def test_another_table_has_its_own_values_on_the_same_axis() -> None:
    found = get(f"{PATH}&cmp_table=lake.shop.web.carts.v2").json()
    names = [each["id"] for each in found["cmp"]["lanes"]]
    assert (found["cmp"]["seconds"], found["cmp"]["table"], names) == (
        *(0, "lake.shop.web.carts.v2"),
        [each["id"] for each in found["lanes"]],
    )
    own, other = (
        next(each for each in lanes if each["id"] == "data_files")["v"]
        for lanes in (found["lanes"], found["cmp"]["lanes"])
    )
    assert len(own) == len(other) == len(found["t"])
    assert (own[0], own[-1]) == (10, 20)
    assert (other[0], other[-1]) == (700, 900)


def test_a_period_is_compared_as_before() -> None:
    found = get(f"{PATH}&cmp=3600").json()
    assert (found["cmp"]["seconds"], found["cmp"]["table"]) == (3600, None)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("cmp_table=lake.sales.nothing", "is not a known table"),
        ("cmp_table=orders", "is not a known table"),
        ("cmp_table=lake.sales.orders&cmp=60", "omit one of them"),
    ],
)
def test_a_comparison_that_cannot_be_made_names_its_parameter(more: str, said: str) -> None:
    answer = get(f"{PATH}&{more}")
    assert answer.status_code == 400
    assert "cmp_table" in answer.text
    assert said in answer.text
