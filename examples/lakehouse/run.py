"""Run the reference lakehouse: `start` to watch it, `check` for its scenarios (`make lakehouse`, `lakehouse-check`)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

from lakehouse.check.catalogue import FORMS, names, scenarios
from lakehouse.check.limit import CheckOverdue, limited
from lakehouse.check.scenario import CurrentStep, run_all, summary
from lakehouse.check.world import ScenarioWorld
from lakehouse.check.worlds import batch_world, world_of
from lakehouse.maintain.maintainer import watching
from lakehouse.parts.memory import memory_mb, processor_s
from lakehouse.parts.places import Places, Ports
from limnograph.demo.processes.supervisor import stop_on_signals
from limnograph.demo.progress import Progress
from limnograph.domain.errors import LimnographError

LIMIT_S = {"short": 720.0, "batch": 3600.0, "stream": 3600.0}
"""Longest run of a check, by form."""
DAY_S = 60.0
"""A day of the lakehouse that is only watched."""
WHAT_TO_LOOK_AT = """\
a day passes each minute. Look at
  {server}/             the fleet: bronze, silver and gold, with what needs attention
  {server}/t/lake/silver/orders
                        merge-on-read: delete files pile up, day by day, until they are compacted
  {server}/t/lake/silver/orders/commits
                        who wrote: each commit names the job of the DAG that wrote it
  {server}/maintenance  what the maintainer may do under its policy, what it did, and what it promised
  {server}/maintenance/ledger
                        what it did to the jobs, once enough runs have ended
  {server}/status       sources and their lag
  {prometheus}/alerts   Limnograph's alerts, from the shipped rules
Ctrl-C ends everything"""


def main() -> int:
    """Exit 0 if all holds, 1 if a scenario failed, 2 if the lakehouse did not start, 130 if it was stopped."""
    arguments = _arguments()
    progress = Progress()
    stop_on_signals()
    try:
        if arguments.verb == "check":
            return check(arguments, progress)
        with batch_world(arguments.dir, progress, alerts=True) as world:
            return watch(world, progress)
    except LimnographError as error:
        sys.stderr.write(f"lakehouse: {error}\n")
        return 2
    except KeyboardInterrupt:
        progress.say("stopped")
        return 130


def check(arguments: argparse.Namespace, progress: Progress) -> int:
    """Run the scenarios; the summary is the last line of stdout. If all hold, only it and the logs are kept."""
    step, form = CurrentStep(), arguments.form
    names(form, arguments.only)
    try:
        with (
            limited(arguments.limit or LIMIT_S[form], lambda: step.name),
            world_of(form, arguments.dir, progress) as world,
        ):
            logs = run_all(scenarios(world, form, arguments.only), progress, step)
            found = summary(logs, progress.seconds, memory_mb(), processor_s())
    except CheckOverdue as overdue:
        sys.stderr.write(f"lakehouse: {overdue}: {step.name}\n")
        return 1
    for log in logs:
        for failure in log.failures:
            sys.stderr.write(f"lakehouse: scenario failed: {log.name}: {failure}\n")
    text, places = json.dumps(found, default=str), Places(arguments.dir, Ports())
    if found["ok"] and not arguments.keep:
        places.clear()
    (places.root / f"summary-{form}.json").write_text(f"{text}\n")
    sys.stdout.write(f"{text}\n")
    return 0 if found["ok"] else 1


def watch(world: ScenarioWorld, progress: Progress) -> int:
    """A day each minute, until the process is stopped; the maintainer works beside it."""
    places = world.lake.places
    world.medallion.open()
    world.children.start(watching(places))
    for line in WHAT_TO_LOOK_AT.format(server=places.server, prometheus=places.prometheus).splitlines():
        progress.say(line)
    while True:
        world.medallion.next_day()
        for name, result in world.medallion.run().items():
            if result.state != "done":
                progress.say(f"{name} {result.state}: {result.result}")
        progress.say(f"day {world.medallion.days} is in the lake")
        until = time.monotonic() + DAY_S
        while time.monotonic() < until:
            for child in world.children.ended():
                progress.say(f"{child.name} ended ({child.exit_code}): {child.last_words()}; see {child.log}")
            time.sleep(0.5)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lakehouse", description=__doc__)
    parser.add_argument("verb", choices=("start", "check"))
    parser.add_argument("--dir", type=Path, default=Path(".lakehouse"), help="folder of all state")
    parser.add_argument(
        "--form",
        choices=FORMS,
        default="short",
        help="short: scenarios of CI; batch: all without a stream; stream: those with one",
    )
    parser.add_argument("--only", action="append", default=[], help="part of a scenario's name; may be repeated")
    parser.add_argument("--limit", type=float, help="seconds after which a check ends, whatever it waits for")
    parser.add_argument("--keep", action="store_true", help="keep all state of a check in which every scenario holds")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
