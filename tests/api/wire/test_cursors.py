"""A page's cursor works as it was given: alone or with any of the parameters it was made with, in any order, later,
after new commits, on another server over the same lake. Walking pages finds every item once, as one large page would.
"""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from limnograph.adapters.memory.query_engine import MemoryEngine
from limnograph.domain.facts.events import AlertFact
from serving_kit import HOUR, MINUTE, NOW, SECOND, FixedClock, application, moved, parts, row

TABLES, NAMESPACES = 9, ("sales", "sales.eu", "ops")
LOOP = asyncio.Runner()
MS = 1_000
FROM, TO = ((NOW - hours * HOUR) // MS for hours in (20, 1))


def engine() -> MemoryEngine:
    """Tables with equal and unknown numbers, commits at equal instants, names that are parts of one another."""
    made, rows, log = MemoryEngine(), [], []
    for number in range(TABLES):
        own = {
            "table_uuid": f"uuid-{number}",
            "table": f"t{number}",
            "namespace": NAMESPACES[number % 3],
        }
        for place in range(6):
            at = NOW - (place * 4 + 1) * HOUR - (number // 4) * SECOND
            told = {
                "parent_id": number * 100 + place + 1,
                "added_data_files": (None, 1, 500)[(number + place) % 3],
                "operation": ("append", "replace", None)[place % 3],
                "schema_id": place // 3,
                "total_bytes": 2**60 + number // 2,
            }
            files = (10, 40, 20)[number % 3] if number % 4 else None
            rows.append(row(number * 100 + place, at, files, **told, **own))
            log.append(moved(number * 100 + place, at, **own))
    made.append(rows, log)
    return made


def alerts() -> list[AlertFact]:
    return [
        AlertFact(
            fingerprint=f"{number // 2:016}",
            starts_at=NOW - (number // 3) * HOUR,
            status="firing",
            alert_name="Slow" if number % 2 else "Stale",
            catalog="lake",
            namespace="sales",
            table=f"t{number % 4}",
            observed_at=NOW,
        )
        for number in range(14)
    ]


class World:
    """A lake, a clock, and a server that may be started again."""

    def __init__(self) -> None:
        self.engine, self.clock = engine(), FixedClock()
        self.start()

    def start(self) -> None:
        self.made = parts(self.engine, clock=self.clock)
        LOOP.run(self.made.alerts.accept(alerts()))
        transport = httpx.ASGITransport(app=application(self.made), raise_app_exceptions=False)
        self._http = httpx.AsyncClient(transport=transport, base_url="http://limnograph")

    def ask(self, path: str, params: list[tuple[str, str]]) -> httpx.Response:
        return LOOP.run(self._http.get(path, params=params))

    def later(self, number: int) -> None:
        """Time goes on, and a table gets a commit."""
        self.clock.micros += 17 * MINUTE
        place = number % TABLES
        own = {"table_uuid": f"uuid-{place}", "table": f"t{place}", "namespace": NAMESPACES[place % 3]}
        self.engine.append([row(10_000 + number, self.clock.micros - SECOND, 5_000, added_data_files=4_000, **own)], [])
        self.made.store.refresh()


def choices(**values: list[str | None]) -> st.SearchStrategy[dict[str, str]]:
    """Parameters, each left out or with one of its values."""
    drawn = {name.rstrip("_"): st.sampled_from([None, *values_]) for name, values_ in values.items()}
    return st.fixed_dictionaries(drawn).map(lambda found: {k: v for k, v in found.items() if v is not None})


RANGE = {"from_": [str(FROM)], "to": [str(TO)]}
SORTS = ["attention", "name", "data_files", "bytes", "commits", "last_commit", "delta_data_files", "small_share"]
COMMITS = {
    **RANGE,
    "operation": ["append", "replace"],
    "min_added_data_files": ["1", "400"],
    "schema_changed": ["true", "0"],
}
ROUTES: dict[str, tuple[st.SearchStrategy[dict[str, str]], tuple[str, ...]]] = {
    "/api/v1/tables": (
        choices(**RANGE, q=["T", "t1"], ns=["sales", "lake.ops"], sort=SORTS, dir=["asc", "desc"], cmp=["3600"])
        | choices(**RANGE, sort=SORTS, grew=["0", "0.10"], within=["300"]).filter(
            lambda p: "grew" in p or "within" not in p
        ),
        ("catalog", "namespace", "table"),
    ),
    "/api/v1/commits": (choices(**COMMITS), ("table", "snapshot_id")),
    "/api/v1/tables/lake/sales/t3/commits": (choices(**COMMITS), ("snapshot_id",)),
    "/api/v1/alerts": (choices(state=["firing", "unknown"], q=["slow"], ns=["sales"]), ("fingerprint", "starts_at")),
}
SPELLINGS = {"schema_changed": {"true": "1", "0": "false"}, "grew": {"0.10": "1e-1"}, "q": {"T": "t", "slow": "SLOW"}}


@pytest.mark.parametrize("path", ROUTES)
def test_pages_by_cursor_hold_each_item_once_and_in_order(path: str) -> None:
    asked, identity = ROUTES[path]

    @settings(max_examples=8, deadline=None, derandomize=True, database=None)
    @given(asked, st.integers(1, 5), st.data())
    def walk(params: dict[str, str], limit: int, data: st.DataObject) -> None:
        world, first = World(), list(params.items())
        whole = world.ask(path, [*first, ("limit", "500")]).json()
        expected = [tuple(each[name] for name in identity) for each in whole["rows"]]
        found, cursor = list[tuple[Any, ...]](), None
        for step in range(100):
            sent = first if cursor is None else repeated(data, params, cursor)
            answer = world.ask(path, [*sent, ("limit", str(limit))])
            assert answer.status_code == 200, (sent, answer.text)
            found += [tuple(each[name] for name in identity) for each in answer.json()["rows"]]
            cursor = answer.json()["next_cursor"]
            if cursor is None:
                break
            if data.draw(st.booleans(), label="something happens"):
                world.later(step)
            if data.draw(st.booleans(), label="the server starts again"):
                world.start()
        assert found == expected

    walk()


def repeated(data: st.DataObject, params: dict[str, str], cursor: str) -> list[tuple[str, str]]:
    """The cursor with some of the parameters it was made with, in any order and other spellings."""
    some = data.draw(st.sets(st.sampled_from(sorted(params))) if params else st.just(set()), label="sent again")
    spelled = {name: SPELLINGS.get(name, {}).get(params[name], params[name]) for name in some}
    return data.draw(st.permutations([*spelled.items(), ("cursor", cursor)]), label="in this order")


def test_the_cursor_of_an_unbounded_list_works_in_the_address_it_was_issued_for() -> None:
    world = World()
    for path in list(ROUTES)[:3]:
        cursor = world.ask(path, [("limit", "2")]).json()["next_cursor"]
        world.clock.micros += HOUR
        assert world.ask(path, [("limit", "2"), ("cursor", cursor)]).status_code == 200


@pytest.mark.parametrize(
    ("path", "first", "then", "field"),
    [
        ("/api/v1/tables", {"sort": "name"}, {"sort": "bytes"}, "sort"),
        ("/api/v1/tables", {}, {"sort": "name"}, "sort"),
        ("/api/v1/tables", {"from": str(FROM)}, {"from": str(FROM - 1)}, "from"),
        ("/api/v1/tables", {}, {"to": str(TO)}, "to"),
        ("/api/v1/tables", {}, {"q": "t1"}, "q"),
        ("/api/v1/commits", {"operation": "append"}, {"operation": "replace"}, "operation"),
        ("/api/v1/commits", {}, {"schema_changed": "false"}, "schema_changed"),
        ("/api/v1/alerts", {"state": "firing"}, {"state": "unknown"}, "state"),
    ],
)
def test_only_a_parameter_that_contradicts_is_refused_and_named(path, first, then, field) -> None:
    world = World()
    cursor = world.ask(path, [*first.items(), ("limit", "2")]).json()["next_cursor"]
    refused = world.ask(path, [*then.items(), ("cursor", cursor)])
    assert (refused.status_code, refused.json()["field"]) == (400, field)
    assert f"omit `{field}`" in refused.json()["detail"]


def test_a_cursor_of_another_list_is_refused_with_its_list() -> None:
    world = World()
    paths = list(ROUTES)
    for path in paths:
        cursor = world.ask(path, [("limit", "2")]).json()["next_cursor"]
        for other in paths:
            refused = world.ask(other, [("cursor", cursor)])
            assert (refused.status_code == 200) == (other == path)
            assert other == path or refused.json()["field"] == "cursor"


def test_any_content_of_a_cursor_is_accepted_or_refused() -> None:
    world = World()
    for path in ROUTES:
        cursor = world.ask(path, [("limit", "2")]).json()["next_cursor"]
        question, position = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        extreme: list[Any] = [2**63, -(2**63), 2**63 - 1, 10**40, 1e308, -1, 0, "", "x", None, True, []]
        forged = [[question, [*position[:i], one, *position[i + 1 :]]] for i in range(len(position)) for one in extreme]
        forged += [[{**question, name: one}, position] for name in question for one in extreme]
        forged += [[question, []], [question], [], {}, None, [{}, position], [{**question, "x": 1}, position]]
        for body in forged:
            text = base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip("=")
            answer = world.ask(path, [("cursor", text)])
            assert answer.status_code in {200, 400}, (path, body, answer.text)
