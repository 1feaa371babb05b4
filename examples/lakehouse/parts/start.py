"""Starts the parts in the order of what they need, waits for each with a limit, and ends them all with this process."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lakehouse.access.tiers import rules_json
from lakehouse.parts import alerting, database, programs
from lakehouse.parts.places import Places
from lakehouse.parts.settings import limnograph_toml
from limnograph.demo.processes.children import ChildProcesses, answers
from limnograph.demo.progress import Progress

READY_S = 180.0
"""Longest wait for a part, of its own processor time and not of that which it waits for a processor."""


@contextmanager
def running(
    places: Places,
    progress: Progress,
    more: Callable[[ChildProcesses], None] | None = None,
    *,
    alerts: bool = False,
) -> Iterator[ChildProcesses]:
    """The lakehouse, ready; leaving the block ends it. `more`: starts other programs instead of Trino; `alerts`: with
    Prometheus and Alertmanager. Raises EnvironmentFault: a part is missing or does not start.
    """
    programs.ensure_installed()
    places.renew()
    places.settings.write_text(limnograph_toml(places, alerts=alerts))
    places.rules.write_text(rules_json())
    with ChildProcesses(places.logs, progress) as children:
        store = children.start(programs.store(places))
        server = children.start(database.server(places))
        programs.compile_catalog(places)
        children.wait_until(server, lambda: database.is_ready(places), READY_S)
        database.create_databases(places, "shop", "catalog")
        progress.say("PostgreSQL is up, with logical decoding")
        children.wait_until(store, lambda: speaks(places.store), READY_S)
        progress.say("the object store is up")
        catalog = children.start(programs.catalog(places))
        children.wait_until(catalog, lambda: answers(f"{places.catalog}/v1/config"), READY_S)
        progress.say("the REST catalog is up")
        if alerts:
            alerting.start(children, places, progress)
        # The observer first: it sees the first commit.
        watching = children.start(programs.limnograph("serve", places))
        trino = children.start(programs.trino(places)) if more is None else None
        children.wait_until(watching, lambda: answers(f"{places.server}/readyz"), READY_S)
        progress.say(f"Limnograph is up: {places.server}")
        children.start(programs.pipeline(places))
        if trino is not None:
            children.wait_until(trino, lambda: _has_started(places), READY_S)
            progress.say("Trino is up")
        if more is not None:
            more(children)
        yield children


def speaks(url: str) -> bool:
    """Whether an HTTP server responds there, with any status."""
    try:
        with urllib.request.urlopen(url, timeout=2):  # noqa: S310 - our own loopback address
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


def _has_started(places: Places) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{places.ports.trino}/v1/info", timeout=2) as answer:
            return not json.load(answer)["starting"]
    except (OSError, ValueError):
        return False


def until_stopped(children: ChildProcesses, progress: Progress) -> None:
    """Report parts that end by themselves, until the process is stopped."""
    while True:
        for child in children.ended():
            progress.say(f"{child.name} ended ({child.exit_code}): {child.last_words()}; see {child.log}")
        time.sleep(0.5)
