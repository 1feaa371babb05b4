"""One step of housekeeping that is due, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from limnograph.domain.facts.meta_tables import MetaTable
from limnograph.services.housekeeping.journal import StepKey


class StepOutcome(msgspec.Struct, frozen=True):
    """The result of a step. `did` false: nothing was done, and no row is written. `note`: what the log says of it."""

    did: bool = True
    rows: int | None = None
    late_facts: int | None = None
    detail: dict[str, Any] = {}
    note: str | None = None


class HousekeepingStep(msgspec.Struct, frozen=True):
    """A step that is due."""

    key: StepKey
    table: MetaTable
    act: Callable[[], StepOutcome]
