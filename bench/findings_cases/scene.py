"""A table's history as facts: for rules that read numbers which metadata gives as they are."""

from __future__ import annotations

import random
from typing import Any

from limnograph.analysis.findings.episodes import episodes
from limnograph.domain.finding_limits import FindingLimits
from limnograph.domain.time import Micros
from table_facts import DAY, GIB, HOUR, MIB, MINUTE, START, FactsBuilder

__all__ = ["DAY", "GIB", "HOUR", "MIB", "MINUTE", "START", "Scene"]
WRITERS = ("etl", "flink-orders", "dbt", "trino", "kafka-connect")
SECOND = MINUTE // 60


class Scene:
    """A table whose commits come at a cadence of its own, from a clock that is off by seconds."""

    def __init__(self, rng: random.Random, **defaults: Any) -> None:
        self.rng = rng
        self.target = rng.choice((64, 128, 256, 512)) * MIB
        self.size = rng.randint(2, 400) * GIB
        self.gap = rng.choice((5, 10, 15, 30, 60)) * MINUTE
        self.writer = rng.choice(WRITERS)
        self.at = rng.randrange(7 * DAY)  # the hour and the day of the week at which the history begins
        self.table = FactsBuilder(total_bytes=self.size, target_file_bytes=self.target, **defaults)

    def commit(self, after: int | None = None, operation: str = "append", **columns: Any) -> Scene:
        """A commit, `after` microseconds after the last one."""
        self.at += self.gap if after is None else after
        skew = self.rng.randint(-2 * SECOND, 2 * SECOND)
        self.table.commit(self.at + skew, operation, columns.pop("writer", self.writer), **columns)
        return self

    def opens(self, code: str, after: int = 11 * MINUTE, limits: FindingLimits | None = None) -> bool:
        """Whether the finding is open some time after the last commit."""
        until = Micros(START + self.at + after)
        found = episodes(self.table.facts, limits or FindingLimits(), until)
        return any(each.code == code and each.stretch.closed is None for each in found)
