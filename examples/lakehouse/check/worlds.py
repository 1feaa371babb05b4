"""Running lakehouses, in which the scenarios happen: one for each form of the check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from pathlib import Path

from lakehouse.check.observer import Observer
from lakehouse.check.world import ScenarioWorld
from lakehouse.ingest.stream import StreamTarget, create_tables
from lakehouse.medallion import Medallion
from lakehouse.parts import kafka, spark, start
from lakehouse.parts.lake import Lake
from lakehouse.parts.places import Places, Ports
from lakehouse.parts.streaming import CATALOG, PIPELINE, StreamKeeper
from lakehouse.sources.rates import RatesApi, serving
from limnograph.demo.processes.children import ChildProcesses
from limnograph.demo.processes.supervisor import stop_on_signals
from limnograph.demo.progress import Progress


def world_of(form: str, root: Path, progress: Progress) -> AbstractContextManager[ScenarioWorld]:
    """The lakehouse of a form; it ends with the block."""
    return stream_world(root, progress) if form == "stream" else batch_world(root, progress, alerts=form == "batch")


@contextmanager
def batch_world(root: Path, progress: Progress, *, alerts: bool) -> Iterator[ScenarioWorld]:
    """The lakehouse that reads its sources in batches. `alerts`: with Prometheus and Alertmanager."""
    with _running_world(Places(root, Ports.choose()), progress, alerts=alerts) as world:
        yield world


@contextmanager
def stream_world(root: Path, progress: Progress) -> Iterator[ScenarioWorld]:
    """The lakehouse with Kafka, Debezium and a stream in place of Trino, and its stream running."""
    kafka.ensure_installed()
    places = Places(root, Ports.choose())
    keepers: list[StreamKeeper] = []

    def start_broker(children: ChildProcesses) -> None:
        keeper = StreamKeeper(places, children, progress)
        for name in (CATALOG, PIPELINE):
            keeper.adopt(children.named(name))
        keeper.start_broker()
        keepers.append(keeper)

    with _running_world(places, progress, start_broker) as world:
        create_tables(world.lake, StreamTarget())
        world.medallion.open()
        keepers[0].start_flow()
        yield world._replace(stream=keepers[0])


@contextmanager
def _running_world(
    places: Places,
    progress: Progress,
    more: Callable[[ChildProcesses], None] | None = None,
    *,
    alerts: bool = False,
) -> Iterator[ScenarioWorld]:
    """`more`, `alerts`: see `start.running`."""
    with (
        places.held(),
        serving(RatesApi(date(2026, 5, 1), 25)) as api,
        start.running(places, progress, more, alerts=alerts) as children,
    ):
        session = spark.start_session(places)
        stop_on_signals()  # PySpark has taken SIGINT, and breaks its own connection with it
        progress.say("Spark is up")
        lake = Lake(places, session)
        try:
            yield ScenarioWorld(lake, Medallion(lake, api), Observer(places.server), children)
        finally:
            session.stop()
            lake.close()
