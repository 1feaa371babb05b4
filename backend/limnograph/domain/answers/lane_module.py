"""The dashboard's module of lanes, made of `lane_specs.py`: `python -m limnograph.domain.answers.lane_module`.

CI compares the two. Kinds, sources and units are for tests and types; the build leaves out what is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from limnograph.domain.answers.lane_specs import DEFAULT_LANES, LANE_SPECS, LANES

INTRODUCTION = """\
// Generated from `backend/limnograph/domain/answers/lane_specs.py`: change it there, then run `make types`.
import type { Lane } from './lanes.ts';
"""


def document() -> str:
    """The whole module as TypeScript."""
    kinds = _record((spec.id, spec.kind) for spec in LANE_SPECS)
    sources = _record((spec.id, spec.source) for spec in LANE_SPECS)
    units = _record((spec.id, spec.unit) for spec in LANE_SPECS)
    marks = _array(spec.id for spec in LANE_SPECS if spec.kind in {"events", "bars"})
    return f"""\
{INTRODUCTION}
/** Every lane, in the order of display. */
export const ALL_LANES = {_array(LANES)} as const;
export type LaneId = (typeof ALL_LANES)[number];

/** The lanes of an answer when none are chosen. */
export const DEFAULT_LANES: readonly LaneId[] = {_array(DEFAULT_LANES)};

/** Lanes of events and bars, which have no axis of values. */
export const LANES_WITHOUT_AXIS: readonly string[] = {marks};

export const LANE_KINDS: Readonly<Record<LaneId, Lane['kind']>> = {kinds};

export const LANE_UNITS: Readonly<Record<LaneId, string>> = {units};

/** Where each lane usually comes from: runs of a job may also have been pushed. */
export const LANE_SOURCES: Readonly<Record<LaneId, Lane['source']>> = {sources};
"""


def _array(lanes: Iterable[str]) -> str:
    lines = "".join(f"  '{lane}',\n" for lane in lanes)
    return f"[\n{lines}]"


def _record(values: Iterable[tuple[str, str]]) -> str:
    lines = "".join(f"  {name}: '{value}',\n" for name, value in values)
    return f"{{\n{lines}}}"


if __name__ == "__main__":
    sys.stdout.write(document())
