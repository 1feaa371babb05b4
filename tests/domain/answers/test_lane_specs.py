"""The table of lanes: ids once, units and kinds that answers can have, and the dashboard's module made of it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import msgspec
import pytest

from limnograph.api.wire.values import lane_names
from limnograph.domain.answers.lane_module import document
from limnograph.domain.answers.lane_specs import DEFAULT_LANES, LANE_SPECS, LANES, LaneKind, empty_lane
from limnograph.domain.answers.timeline import Lane
from limnograph.domain.errors import InvalidInput
from limnograph.domain.facts.meta_tables import SnapshotFact

MODULE = Path(__file__).parents[3] / "frontend/src/lib/api/lane-specs.ts"


def test_the_dashboard_has_the_lanes_of_the_table() -> None:
    assert document() == MODULE.read_text(), "run: make types"


def test_an_id_is_declared_once_and_is_written_in_addresses_as_it_is() -> None:
    assert len(set(LANES)) == len(LANES)
    assert [lane for lane in LANES if not lane.replace("_", "").isalnum() or not lane.islower()] == []


def test_a_column_is_one_of_snapshots_and_holds_between_commits() -> None:
    columns = {spec.column: spec.kind for spec in LANE_SPECS if spec.column}
    assert set(columns) <= set(SnapshotFact.__struct_fields__)
    assert set(columns.values()) == {"step"}
    assert {spec.source for spec in LANE_SPECS if spec.column} == {"meta"}


def test_kinds_are_those_of_responses() -> None:
    assert {kind.__struct_config__.tag for kind in get_args(Lane)} == set(get_args(LaneKind))


@pytest.mark.parametrize("spec", LANE_SPECS, ids=lambda spec: spec.id)
def test_a_lane_without_values_has_its_kind(spec) -> None:
    lane = msgspec.to_builtins(empty_lane(spec.id, 3, "absent"))
    assert (lane["id"], lane["kind"], lane["unit"], lane["source"]) == (spec.id, spec.kind, spec.unit, spec.source)
    assert {len(lane[key]) for key in ("v", "lo", "mid", "hi") if key in lane} <= {3}


def test_the_server_accepts_every_lane_in_the_order_of_display_and_no_other() -> None:
    assert lane_names(",".join(reversed(LANES))) == LANES
    assert lane_names(None) == DEFAULT_LANES
    with pytest.raises(InvalidInput, match="not a lane"):
        lane_names("data_file")
