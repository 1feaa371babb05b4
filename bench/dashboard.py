"""Drawing of the dashboard: lanes against their goals, and against the article's Chart.js component on its own points.

Both pages are built from this checkout and opened fresh in the system's Chromium, alternately (`web/measure.mjs`).
"""

from __future__ import annotations

import json
import os
import subprocess

from rows import HERE, Bench, Measure, Row

ROUNDS = {True: 7, False: 3}
FIRST_MS, REDRAW_MS, MOVE_P95_MS = 60.0, 25.0, 4.0
LANES = "8 lanes of 1,440 points"
TIMES_CHARTJS = 5.0


def _drawing(bench: Bench) -> list[Row]:
    took = _measured(bench)
    fair = (
        "CPU of the main thread until the picture stands, 4 x 5 x 361 points, fresh pages; Chart.js 4.6.1 with its "
        f"defaults (without animation {took['still']:.0f} ms)"
    )
    return [
        Row(
            "web.draw",
            took["first"],
            FIRST_MS,
            "ms",
            1,
            f"limit of the goal; {LANES}, first drawing under the bar of a page, best of fresh pages",
        ),
        Row(
            "web.redraw", took["redraw"], REDRAW_MS, "ms", 1, f"limit of the goal; {LANES}, zoomed by a step, best page"
        ),
        Row("web.pointer_move_p95", took["move_p95"], MOVE_P95_MS, "ms", 1, f"limit of the goal; {LANES}, best page"),
        Row("web.draw_vs_chartjs", took["ours"], took["peer"], "ms", TIMES_CHARTJS, fair),
    ]


def _measured(bench: Bench) -> dict[str, float]:
    """Times in ms. Raises SystemExit."""
    web = HERE / "web"
    if not (web / "node_modules").is_dir():
        subprocess.run(["npm", "ci", "--prefer-offline"], cwd=web, check=True, capture_output=True)
    found = subprocess.run(
        ["node", "measure.mjs", str(bench.scratch), str(ROUNDS[bench.full])],
        cwd=web,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        env=dict(os.environ),
    )
    if found.returncode:
        raise SystemExit(f"web/measure.mjs failed:\n{found.stderr[-3000:]}")
    answer: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return answer


MEASURES: dict[str, Measure] = {"dashboard": _drawing}
