"""The bytes that an OpenLineage run read: the sum over its inputs, or unknown, never a part of it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from limnograph.domain.ids import TableName
from limnograph.domain.inbound.openlineage import RunEvent
from limnograph.services.events.lineage import MOST_TABLES, read_lineage_event
from limnograph.services.events.naming import KnownTable, TableResolver
from pushed_bodies import CATALOGS, COMPLETE, METADATA, READ
from serving_kit import NOW

LARGEST = 2**63 - 1
NAMING = TableResolver(CATALOGS, lambda: [KnownTable(TableName("lake", "sales", "orders"), METADATA)])


def dataset(statistics: Any, name: str = "other") -> dict[str, Any]:
    """An input as OpenLineage's specification has it; `statistics`: its facet, with rows and files."""
    return {"namespace": "s3://bucket", "name": name, "inputFacets": {"inputStatistics": statistics}}


def size(count: Any) -> dict[str, Any]:
    return dataset({"_producer": "x", "_schemaURL": "y", "rowCount": 3, "fileCount": 1, "size": count})


def read(inputs: Any, kind: str = "COMPLETE") -> int | None:
    event = msgspec.json.encode({**COMPLETE, "eventType": kind, "inputs": inputs})
    (run,) = read_lineage_event(msgspec.json.decode(event, type=RunEvent), NAMING, NOW).runs
    return run.read_bytes


@pytest.mark.parametrize(
    ("inputs", "read_bytes"),
    [
        ([size(700)], 700),
        ([size(700), size(5), size(0)], 705),
        ([size(0)], 0),
        ([size(LARGEST - 1)], LARGEST - 1),
        # The known table of the run, and one that no catalog has, both count.
        ([{**READ, "inputFacets": {**READ["inputFacets"], **size(9)["inputFacets"]}}, size(1)], 10),
        ([size(1)] * (MOST_TABLES + 5), MOST_TABLES + 5),
        (None, None),
        ([], None),
        ([READ], None),
        ([size(700), READ], None),
        ([size(700), dataset({"rowCount": 4})], None),
        # Spark's number for a relation of unknown size, and a sum that no long holds.
        ([size(LARGEST)], None),
        ([size(LARGEST - 1), size(2)], None),
        ([size(1)] * (MOST_TABLES + 5) + [READ], None),
    ],
)
def test_read_bytes_are_the_sum_if_every_input_has_a_size(inputs: Any, read_bytes: int | None) -> None:
    assert read(inputs) == read_bytes


@pytest.mark.parametrize("wrong", [-1, 1.5, "7", True, [], {}, None, LARGEST + 1, 10**40])
def test_a_malformed_size_is_no_size_and_no_error(wrong: Any) -> None:
    assert read([size(wrong)]) is None
    assert read([size(700), size(wrong)]) is None


@pytest.mark.parametrize("facet", [None, 5, "text", [], {}])
def test_a_malformed_facet_is_no_size_and_no_error(facet: Any) -> None:
    assert read([size(700), dataset(facet)]) is None


@pytest.mark.parametrize(("kind", "read_bytes"), [("START", None), ("COMPLETE", 7), ("FAIL", 7), ("ABORT", 7)])
def test_only_the_end_of_a_run_tells_what_it_read(kind: str, read_bytes: int | None) -> None:
    assert read([size(7)], kind) == read_bytes
