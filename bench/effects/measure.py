"""`make bench-effects`: scores every scene, writes results.json, and updates the tables of docs/effects.md."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from effects.laws import ABSTAIN, ALONE, DESIGN, OWN, POWER, Scene
from effects.report import write_page
from effects.score import score

RESULTS = Path(__file__).with_name("results.json")
GROUPS = {"design": DESIGN, "own": OWN, "alone": ALONE, "abstain": ABSTAIN}
RATIOS = (0.97, 0.95, 0.9, 0.8)
RUNS_AFTER = (5, 8, 12, 24, 48)


def measure(histories: int, seed: int) -> dict[str, Any]:
    """All tables."""
    found: dict[str, Any] = {"histories": histories, "seed": seed}
    for group, scenes in GROUPS.items():
        found[group] = {name: _scored(name, scene, histories, seed) for name, scene in scenes.items()}
    found["power"] = {
        str(ratio): {
            str(after): _scored(f"{ratio} {after}", replace(POWER, after=after), max(40, histories // 4), seed, ratio)
            for after in RUNS_AFTER
        }
        for ratio in RATIOS
    }
    return found


def _scored(name: str, scene: Scene, histories: int, seed: int, ratio: float = 0.8) -> dict[str, Any]:
    row = {**score(scene, histories, seed, ratio), "source": scene.source}
    print(name, {key: value for key, value in row.items() if key != "source"}, flush=True)
    return row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=400, help="per scene; half of them without an effect")
    parser.add_argument("--seed", type=int, default=2_026)
    given = parser.parse_args()
    RESULTS.write_text(json.dumps(measure(given.histories, given.seed), indent=1) + "\n")
    write_page()
