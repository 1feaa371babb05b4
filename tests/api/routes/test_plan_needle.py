"""Secrets of the file of `limnograph maintain` are found nowhere: the server never opens it, and errors that an
executor quotes in the history of a plan are shown without credentials.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api_document import document
from limnograph.adapters.inbox.database import InboxDatabase
from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.api.docs.reference.examples import NAMES
from limnograph.api.metrics.exposition import Exposition
from limnograph.api.metrics.maintenance_metrics import MaintenanceMetrics
from limnograph.domain.maintenance.moves import following
from limnograph.settings import load
from limnograph.wiring.from_settings import build
from limnograph.wiring.server_metrics import maintenance_numbers
from planned_lake import BREAKER, PLAN
from served_lake import small_lake
from serving_kit import client

NEEDLE = "needle4711writes"
MAINTENANCE = f"""
[maintenance]
mode = "approve"
[[maintenance.policy]]
tables = ["lake.**"]
mode = "approve"
[maintenance.spark]
"spark.hadoop.fs.s3a.secret.key" = "{NEEDLE}"
[maintenance.catalogs.lake]
token = "{NEEDLE}"
uri = "https://writer:{NEEDLE}@catalog.example.org"
"""
ERROR = (
    f"lake: https://writer:{NEEDLE}@catalog.example.org/v1 responded 403 to Bearer {NEEDLE}; "
    f"token={NEEDLE}, fs.s3a.secret.key={NEEDLE}"
)
_opened: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and "maintenance.toml" in str(arguments[0]):
        _opened.append(str(arguments[0]))


def test_the_needle_is_found_nowhere(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    small_lake(tmp_path)
    (tmp_path / "maintenance.toml").write_text(MAINTENANCE)
    config = tmp_path / "limnograph.toml"
    sys.addaudithook(_watch)
    settings = load(str(config))
    made = build(settings, config, watch=False)
    states = SqlPlanStates(InboxDatabase(settings.inbox_url))
    (fact,) = states.record([PLAN])
    for state in ("approved", "leased", "checking", "failed"):
        (fact,) = states.record([replace(following(fact, state, "limnograph"), reason=ERROR, problem="engine")])
    states.open_breaker(replace(BREAKER, text=ERROR))
    exposition = Exposition(
        lambda: (1, []), lambda: None, collectors=[MaintenanceMetrics(lambda: maintenance_numbers(made))]
    )

    async def pages() -> dict[str, str]:
        assert made.plans is not None
        reader, found = made.live.open("me", None), {}
        await asyncio.to_thread(made.plans.catch_up)
        async with client(made) as http:
            for path, operations in document()["paths"].items():
                if "get" in operations and not path.endswith("/stream"):
                    address = path.format(**NAMES)
                    found[path] = (await http.get(address)).text
            found["states"] = (await http.get("/api/v1/maintenance?state=failed")).text
        assert made.backend.plans is not None
        made.backend.plans.publish(replace(fact, seq=fact.seq + 1, state="proposed"))
        found["stream"] = "".join(event.data.decode() for event in await reader.next(5) or ())
        return found

    found = asyncio.run(pages())
    found["metrics"], found["log"] = exposition().decode(), caplog.text
    assert {name for name, text in found.items() if NEEDLE in text} == set()
    assert _opened == []
    shown = json.loads(found["/api/v1/maintenance/{plan_id}"])
    assert (shown["state"], shown["reason"][:22]) == ("failed", "lake: https://***@cata")
    assert "***" in json.loads(found["/api/v1/maintenance/breakers"])["breakers"][0]["text"]
    assert PLAN.plan_id in found["states"]
    assert PLAN.plan_id in found["stream"]
