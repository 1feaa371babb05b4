"""`make bench`: the documented performance, measured against peers in one run. Writes results.json; exits with 1 if a
ratio is below its floor.

`--ci` runs slow peers at a tenth of the size and extrapolates by a stated law; it writes only to `--results`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

import advise
import backfill
import cold
import columns
import dashboard
import extraction
import findings
import first_start
import forecasts
import front
import held
import housekeeping
import serving
import strategies
from rows import Bench, Measure, Row

MEASURES: dict[str, Measure] = {
    **extraction.MEASURES,
    **columns.MEASURES,
    **housekeeping.MEASURES,
    **strategies.MEASURES,
    **backfill.MEASURES,
    **serving.MEASURES,
    **front.MEASURES,
    **cold.MEASURES,
    **dashboard.MEASURES,
    **findings.MEASURES,
    **held.MEASURES,
    **advise.MEASURES,
    **first_start.MEASURES,
    **forecasts.MEASURES,
}
APART = {
    "append_age",
    "scan",
    "first_sight",
    "strategies",
    "cached_page",
    "revalidate_304",
    "cold_page",
    "trino_cold_90d",
    "dashboard",
    "forecast_site",
}
"""Not part of `--ci`: their law shows only at full size, or only on an otherwise idle machine."""
RESULTS = Path(__file__).parent / "results.json"
ELSEWHERE = "findings.cases"
"""Rows that `make bench-findings` writes."""


def main() -> int:
    """Exit code: 1 if a ratio is below its floor."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ci", action="store_true", help="slow peers at a tenth of the size")
    parser.add_argument("--only", action="append", choices=sorted(MEASURES), help="these measures alone")
    parser.add_argument("--results", type=Path, help="file to write; bench/results.json, and nothing with --ci")
    asked = parser.parse_args()
    target = asked.results or (None if asked.ci else RESULTS)
    rows: list[Row] = []
    for name in asked.only or [name for name in MEASURES if not (asked.ci and name in APART)]:
        scratch = Path(tempfile.mkdtemp(prefix=f"limnograph-bench-{name}-"))
        try:
            for row in MEASURES[name](Bench(scratch, full=not asked.ci)):
                rows.append(row)
                print(_line(row), flush=True)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    if target is not None:
        _keep(rows, target, parts=bool(asked.only))
    broken = [row.name for row in rows if not row.holds]
    if broken:
        print(f"below half of the goal: {', '.join(broken)}", file=sys.stderr)
    return 1 if broken else 0


def _keep(rows: list[Row], target: Path, *, parts: bool) -> None:
    """Write the measured rows; `parts`: in addition to the existing rows of the file."""
    known = json.loads(target.read_text()) if target.exists() else {}
    held = known if parts else {name: row for name, row in known.items() if name.startswith(ELSEWHERE)}
    results = {**held, **{row.name: _result(row) for row in rows}}
    target.write_text(json.dumps(results, indent=2) + "\n")
    if target == RESULTS:
        strategies.PAGE.write_text(strategies.document(results))


def _result(row: Row) -> dict[str, object]:
    return {
        "ours": round(row.ours, 6),
        "peer": round(row.peer, 3),
        "ratio": round(row.ratio, 2),
        "unit": row.unit,
        "note": f"{row.note}; goal {row.goal}x",
    }


def _line(row: Row) -> str:
    mark = "ok " if row.ratio >= row.goal else ("low" if row.holds else "BAD")
    return f"{mark} {row.name:36} {row.ours:12.4g} {row.peer:12.4g} {row.unit:9} {row.ratio:10.1f}x  goal {row.goal}x"


if __name__ == "__main__":
    sys.exit(main())
