"""Run the reference lakehouse: `start` to watch it, `check` for its scenarios (`make lakehouse`, `lakehouse-check`)."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

from lakehouse.check.catalogue import scenarios
from lakehouse.check.observer import Observer
from lakehouse.check.scenario import Scenario, run_all, summary
from lakehouse.check.stream.streamed import stream_scenarios
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.stream import StreamTarget, create_tables
from lakehouse.medallion import Medallion
from lakehouse.parts import kafka, spark, start
from lakehouse.parts.lake import Lake
from lakehouse.parts.memory import memory_mb
from lakehouse.parts.places import Places, Ports
from lakehouse.parts.streaming import StreamKeeper
from lakehouse.sources.rates import RatesApi, serving
from limnograph.demo.processes.children import ChildProcess, ChildProcesses
from limnograph.demo.processes.supervisor import stop_on_signals
from limnograph.demo.progress import Progress
from limnograph.domain.errors import LimnographError

FORMS = ("short", "long")
DAY_S = 60.0
"""A day of the lakehouse that is only watched."""


def main() -> int:
    """Exit 0 if all holds, 1 if a scenario failed, 2 if the lakehouse did not start, 130 if it was stopped."""
    arguments = _arguments()
    progress = Progress()
    stop_on_signals()
    try:
        if arguments.verb == "check" and arguments.form == "long":
            with _streaming_world(arguments.dir, progress) as world:
                return check(stream_scenarios(world, arguments.only), progress)
        with _world(arguments.dir, progress) as world:
            if arguments.verb == "check":
                return check(scenarios(world, arguments.only), progress)
            return watch(world, progress)
    except LimnographError as error:
        sys.stderr.write(f"lakehouse: {error}\n")
        return 2
    except KeyboardInterrupt:
        progress.say("stopped")
        return 130


def check(chosen: list[Scenario], progress: Progress) -> int:
    """Run the scenarios; the summary is the last line of stdout."""
    logs = run_all(chosen, progress)
    for log in logs:
        for failure in log.failures:
            sys.stderr.write(f"lakehouse: scenario failed: {log.name}: {failure}\n")
    found = summary(logs, progress.seconds, memory_mb())
    sys.stdout.write(json.dumps(found, default=str) + "\n")
    return 0 if found["ok"] else 1


def watch(world: ScenarioWorld, progress: Progress) -> int:
    """A day each minute, until the process is stopped."""
    world.medallion.open()
    progress.say(f"a day passes each minute; look at {world.lake.places.server}:")
    progress.say("  the fleet lists bronze, silver and gold; the page of a commit names the job that wrote it")
    progress.say("  silver.orders collects delete files; findings and recommendations appear as it grows")
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


@contextmanager
def _world(root: Path, progress: Progress) -> Iterator[ScenarioWorld]:
    places = Places(root, Ports.choose())
    with places.held(), serving(RatesApi(date(2026, 5, 1), 25)) as api, start.running(places, progress) as children:
        session = spark.start_session(places)
        progress.say("Spark is up")
        try:
            lake = Lake(places, session)
            yield ScenarioWorld(lake, Medallion(lake, api), Observer(places.server), children)
        finally:
            session.stop()


@contextmanager
def _streaming_world(root: Path, progress: Progress) -> Iterator[ScenarioWorld]:
    """The lakehouse with Kafka, Debezium and a stream in place of Trino, and its stream running."""
    kafka.ensure_installed()
    places = Places(root, Ports.choose())
    keepers: list[StreamKeeper] = []

    def start_broker(children: ChildProcesses, catalog: ChildProcess) -> None:
        keeper = StreamKeeper(places, children, progress)
        keeper.adopt(catalog)
        keeper.start_broker()
        keepers.append(keeper)

    with (
        places.held(),
        serving(RatesApi(date(2026, 5, 1), 25)) as api,
        start.running(places, progress, start_broker) as children,
    ):
        session = spark.start_session(places)
        try:
            lake = Lake(places, session)
            medallion = Medallion(lake, api)
            create_tables(lake, StreamTarget())
            medallion.open()
            keepers[0].start_flow()
            yield ScenarioWorld(lake, medallion, Observer(places.server), children, keepers[0])
        finally:
            session.stop()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="lakehouse", description=__doc__)
    parser.add_argument("verb", choices=("start", "check"))
    parser.add_argument("--dir", type=Path, default=Path(".lakehouse"), help="folder of all state")
    parser.add_argument("--form", choices=FORMS, default="short", help="short: all but the stream; long: the stream")
    parser.add_argument("--only", action="append", default=[], help="part of a scenario's name; may be repeated")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
