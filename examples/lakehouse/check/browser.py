"""Six findings as a person finds them: from the fleet by click, in Chromium."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.parts.places import CHECKOUT

SIX = (
    ("small_files", "lake.lab.old_files"),
    ("snapshots_unbounded", "lake.lab.old_snapshots"),
    ("manifests_fragmented", "lake.lab.old_manifests"),
    ("high_cardinality_partitioning", "lake.lab.by_user"),
    ("deletes_not_materialized", "lake.lab.personal"),
    ("equality_deletes", "lake.lab.equality_deletes"),
)
"""Findings that other scenarios make, as e2e/lakehouse/findings.spec.ts has them."""
LONGEST_S = 900.0


class FindingsInBrowser:
    """Comes before the scenarios that repair what it shows."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def happen(self, log: ScenarioLog) -> None:
        """Other scenarios make it happen."""
        log.figures["findings"] = len(SIX)

    def observe(self, log: ScenarioLog) -> None:
        """The findings are open, and Chromium shows each; a picture of each is kept beside the logs."""
        places, observer = self._world.lake.places, self._world.observer
        for code, table in SIX:
            log.claim(f"Limnograph reports {code}", observer.finding(code, table))
        pictures = places.logs / "pictures"
        done = subprocess.run(
            [str(_playwright()), "test", "-c", "lakehouse.config.ts"],
            cwd=CHECKOUT / "e2e",
            env={
                **os.environ,
                "LIMNOGRAPH_LAKEHOUSE_URL": places.server,
                "LIMNOGRAPH_LAKEHOUSE_PICTURES": str(pictures),
            },
            stdout=(places.logs / "chromium.log").open("wb"),
            stderr=subprocess.STDOUT,
            check=False,
            timeout=LONGEST_S,
        )
        log.equal(f"Chromium shows all of them (see {places.logs / 'chromium.log'})", done.returncode, 0)
        log.equal("and each has its picture", len(list(pictures.glob("*.png"))), len(SIX))


def _playwright() -> Path:
    return CHECKOUT / "e2e" / "node_modules" / ".bin" / "playwright"
