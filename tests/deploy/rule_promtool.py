"""Prometheus' own tool for rules and their tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

PROMTOOL = Path(__file__).parents[2] / ".tools" / "prometheus" / "promtool"
GOGC = "400"
"""Rules are evaluated thousands of times on little that stays: to collect less often saves a seventh."""


def promtool(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What it says."""
    command = [str(PROMTOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "GOGC": GOGC})
