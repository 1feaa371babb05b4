"""The programs of the stream: started in order, killed on purpose, and started again when they ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping

from lakehouse.parts import kafka, programs
from lakehouse.parts.places import CHECKOUT, Places
from lakehouse.parts.start import READY_S
from limnograph.demo.processes.children import ChildProcess, ChildProcesses, Program, answers
from limnograph.demo.progress import Progress
from limnograph.domain.errors import EnvironmentFault

DRIVER, WORKER, BROKER, CATALOG, PIPELINE = "stream", "connect", "kafka", "catalog", "pipeline"
TRIGGER = "10 seconds"
DRAIN_S = 600.0


def driver(places: Places, *more: str, name: str = DRIVER, trigger: str = TRIGGER) -> Program:
    """The Spark driver of the stream, with a checkpoint folder of its name."""
    paths = (str(CHECKOUT / "examples"), str(CHECKOUT / "backend"), os.environ.get("PYTHONPATH", ""))
    command = [sys.executable, "-m", "lakehouse.ingest.stream", "--dir", str(places.root)]
    given = {
        "--ports": json.dumps(places.ports._asdict()),
        "--checkpoints": str(places.checkpoints / name),
        "--trigger": trigger,
        "--server": places.server,
    }
    options = [part for pair in given.items() for part in pair]
    return Program(name, [*command, *options, *more], {"PYTHONPATH": os.pathsep.join(filter(None, paths))})


class StreamKeeper:
    """Starts the programs of the stream and keeps them alive. Used by the main thread: children end with the thread
    that started them.
    """

    def __init__(self, places: Places, children: ChildProcesses, progress: Progress) -> None:
        self._places, self._children, self._progress = places, children, progress
        self._running: dict[str, ChildProcess] = {}
        self.restarts = 0
        """Programs that were started again so far."""

    def start_broker(self) -> None:
        """Kafka, with all topics."""
        self.start(BROKER)
        kafka.create_topics(self._places)
        self._progress.say("Kafka is up")

    def start_flow(self) -> None:
        """Kafka Connect and the driver. The shop's tables, slot and publication exist."""
        self.start(WORKER)
        self._progress.say("Kafka Connect is up, with Debezium")
        self.start(DRIVER)
        self._progress.say("the stream is up")

    def adopt(self, child: ChildProcess) -> None:
        """Take charge of a running program, under its name."""
        self._running[child.name] = child

    def kill(self, name: str) -> None:
        """`kill -9` of a program and all that it started."""
        child = self._running[name]
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.end(5)

    def stop(self, name: str) -> None:
        """Let a program end in order."""
        child = self._running.pop(name)
        child.ask_to_stop()
        child.end(20)

    @contextlib.contextmanager
    def resting(self, name: str) -> Iterator[None]:
        """A program ends in order, and starts again after the block, for other scenarios."""
        self.stop(name)
        try:
            yield
        except Exception:
            self.start(name)
            raise
        self.start(name)  # not when the check itself is stopped

    def revive(self) -> list[str]:
        """Start again what has ended, and connectors that have failed. Returns the programs' names."""
        ended = [name for name in (BROKER, CATALOG, WORKER, DRIVER) if self._has_ended(name)]
        for name in ended:
            self.restarts += 1
            self.start(name)
        for name in kafka.broken_connectors(self._places) if WORKER in self._running else ():
            kafka.restart_connector(self._places, name)
        return ended

    def log_of(self, name: str) -> str:
        """What a program has logged in all its lives."""
        return _log_of(self._places, name).decode(errors="replace")

    def _has_ended(self, name: str) -> bool:
        return name in self._running and self._running[name].exit_code is not None

    def start(self, name: str) -> None:
        """Start a program and wait until it is ready. Raises EnvironmentFault."""
        log = self._places.logs / f"{name}.log"
        lived = len(log.read_bytes()) if log.exists() else 0
        program, is_ready = self._parts(lived)[name]
        child = self._children.start(program())
        self._running[name] = child
        self._children.wait_until(child, is_ready, READY_S)

    def _parts(self, lived: int) -> Mapping[str, tuple[Callable[[], Program], Callable[[], bool]]]:
        """How each is started, and how one sees that it is ready. `lived`: bytes that its earlier lives logged."""
        places = self._places
        return {
            BROKER: (lambda: kafka.broker(places), lambda: _listens(places)),
            WORKER: (lambda: kafka.connect(places), lambda: not kafka.broken_connectors(places)),
            CATALOG: (lambda: programs.catalog(places), lambda: answers(f"{places.catalog}/v1/config")),
            PIPELINE: (
                lambda: programs.pipeline(places),
                lambda: answers(f"http://127.0.0.1:{places.ports.pipeline}/metrics"),
            ),
            DRIVER: (lambda: driver(places), lambda: b"streaming\n" in _log_of(places, DRIVER)[lived:]),
        }

    def drain(self, *more: str, name: str) -> None:
        """Run another driver over all that Kafka has, until it ends. Raises EnvironmentFault."""
        child = self._children.start(driver(self._places, *more, name=name, trigger="now"))
        begun = time.monotonic()
        while child.exit_code is None and time.monotonic() - begun < DRAIN_S:
            time.sleep(0.1)
        if child.exit_code != 0:
            raise EnvironmentFault(f"{name} ended with {child.exit_code} within {DRAIN_S:.0f} s; see {child.log}")


def _listens(places: Places) -> bool:
    import socket

    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", places.ports.broker), 2):
        return True
    return False


def _log_of(places: Places, name: str) -> bytes:
    return (places.logs / f"{name}.log").read_bytes()
