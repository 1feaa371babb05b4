"""Starts the parts of the demo in order, waits until each is ready, and supervises them until it is stopped."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from limnograph.demo.folder import Folder
from limnograph.demo.lab import formats
from limnograph.demo.lab.tables import BACKLOG, SORTED
from limnograph.demo.lake.meta import meta_rows
from limnograph.demo.lake.session import name_jars
from limnograph.demo.login import ensure_token, read_token
from limnograph.demo.processes import alerting, past_alerts
from limnograph.demo.processes.children import ChildProcesses, Program, answers
from limnograph.demo.processes.configuration import SERVER, limnograph_toml, maintenance_toml, prometheus_yml
from limnograph.demo.processes.scheduled_jobs import LIVE_EVERY_S, scheduled_jobs
from limnograph.demo.processes.tools import free_port, tool
from limnograph.demo.progress import Progress
from limnograph.demo.story import signals
from limnograph.demo.story.calendar import Calendar
from limnograph.demo.story.plan import BURST_TABLES
from limnograph.demo.story.story import Story
from limnograph.domain.errors import EnvironmentFault
from limnograph.spark_metrics import TOKEN_ENV

TRIGGER = "30s"
RETENTION = "400d"
FIRST_PASS_SECONDS = 300


class Ports(NamedTuple):
    """Ports on 127.0.0.1."""

    server: int
    prometheus: int
    live: int
    jobs: int
    pipeline: int
    alertmanager: int | None

    @classmethod
    def choose(cls, server: int) -> Ports:
        """Choose free ports next to the server's; none for an Alertmanager that is not installed."""
        told = free_port() if alerting.alertmanager() else None
        return cls(server, free_port(), free_port(), free_port(), free_port(), told)

    @property
    def addresses(self) -> dict[str, Any]:
        """The addresses by which other commands reach the running demo."""
        host = "http://127.0.0.1"
        return {
            "server": f"{host}:{self.server}",
            "prometheus": f"{host}:{self.prometheus}",
            "live": f"{host}:{self.live}",
            "jobs": f"{host}:{self.jobs}",
            "pipeline": f"{host}:{self.pipeline}",
            "alertmanager": None if self.alertmanager is None else f"{host}:{self.alertmanager}",
        }


@contextmanager
def everything(
    folder: Folder,
    told: Story,
    ports: Ports,
    progress: Progress,
    *,
    jobs_every: int = LIVE_EVERY_S,
    login: bool = True,
) -> Iterator[ChildProcesses]:
    """Start all parts and wait until they are ready; leaving the block ends them. `jobs_every`: seconds between two
    runs of a generated job; `login`: whether the server requires its token.
    """
    prometheus = tool("prometheus")
    name_jars()
    _write_settings(folder, told, ports, login=login)
    calendar = Calendar.at(told.generated_at)
    jobs = scheduled_jobs(signals.schedules(), calendar, folder.database, ports.jobs, jobs_every)
    with jobs, ChildProcesses(folder.logs, progress) as children:
        child = children.start(_prometheus(str(prometheus), folder, ports))
        children.wait_until(child, lambda: answers(f"http://127.0.0.1:{ports.prometheus}/-/ready"), 60)
        progress.say("Prometheus is up")
        _start_alertmanager(children, folder, ports, progress)
        child = children.start(_limnograph("pipeline", folder, "--trigger", TRIGGER))
        children.wait_until(child, first_pass(folder, told.snapshots), FIRST_PASS_SECONDS)
        progress.say("the pipeline is starting, the meta tables contain the complete history")
        child = children.start(_limnograph("serve", folder, "--port", str(ports.server)))
        children.wait_until(child, lambda: answers(f"http://127.0.0.1:{ports.server}/readyz"), 60)
        progress.say("the server is up")
        _deliver_past_alerts(folder, ports, progress)
        child = children.start(_live(folder, ports))
        children.wait_until(child, lambda: answers(f"http://127.0.0.1:{ports.live}/metrics"), 90)
        progress.say("the live job is up")
        if login:
            children.start(_maintain(folder))
        with folder.announced(ports.addresses):
            yield children


def _write_settings(folder: Folder, told: Story, ports: Ports, *, login: bool) -> None:
    folder.config.write_text(
        limnograph_toml(
            folder.place,
            ports.prometheus,
            ports.server,
            signals.schedules(),
            pipeline_port=ports.pipeline,
            alertmanager_port=ports.alertmanager,
            files=formats.create(folder.files),
            login=login,
        )
    )
    ensure_token(folder.token, folder.config)
    folder.maintenance.write_text(maintenance_toml([*(f"lake.{name}" for name in BURST_TABLES), BACKLOG]))
    folder.thresholds.write_text(alerting.thresholds_yml([*told.tables, SORTED, BACKLOG]))
    rules = [alerting.rules() / "*.yml", folder.thresholds]
    folder.prometheus_config.write_text(
        prometheus_yml(
            {SERVER: ports.server, "limnograph-pipeline": ports.pipeline, "live": ports.live, "jobs": ports.jobs},
            rules=rules,
            alertmanager_port=ports.alertmanager,
            token=folder.token,
        )
    )
    folder.alertmanager_config.write_text(alerting.alertmanager_yml(ports.server, folder.token))


def _start_alertmanager(children: ChildProcesses, folder: Folder, ports: Ports, progress: Progress) -> None:
    """Start Alertmanager if it is installed; otherwise report that, and continue without it."""
    program = alerting.alertmanager()
    if program is None or ports.alertmanager is None:
        progress.say(alerting.MISSING)
        return
    child = children.start(_alertmanager(str(program), folder, ports.alertmanager))
    try:
        children.wait_until(child, lambda: answers(f"http://127.0.0.1:{ports.alertmanager}/-/ready"), 60)
    except EnvironmentFault as error:
        progress.say(f"without Alertmanager: {error}")
    else:
        progress.say("Alertmanager is up")


def _deliver_past_alerts(folder: Folder, ports: Ports, progress: Progress) -> None:
    """Send the alerts of the history to the server, at the first start of a lake."""
    if folder.alerts_delivered:
        return
    addresses = {**ports.addresses, "token": read_token(folder.token)}
    transitions = past_alerts.deliver(past_alerts.read(folder.alerts), addresses)
    folder.mark_alerts_delivered(transitions)
    progress.say(f"the server has received the alerts of the history: {transitions} transitions")


def first_pass(folder: Folder, snapshots: int) -> Callable[[], bool | str]:
    """Probe: whether the meta table holds as many rows as the history has snapshots."""

    def ready() -> bool | str:
        rows = meta_rows(folder)
        return True if rows >= snapshots else f"pipeline: {rows:,} of {snapshots:,} snapshots"

    return ready


def watch(children: ChildProcesses, progress: Progress) -> None:
    """Supervise the parts until the demo is stopped. A part that ends by itself is reported; if the server ends, the
    demo ends.
    """
    while True:
        for child in children.ended():
            progress.say(f"{child.name} ended ({child.exit_code}): {child.last_words()}; see {child.log}")
            if child.name == "serve":
                raise EnvironmentFault(f"the server ended; see {child.log}")
        time.sleep(0.5)


def stop_on_signals() -> None:
    """End the demo on SIGTERM and SIGHUP as on Ctrl-C, also if the shell ignores Ctrl-C. Later signals are ignored, so
    that they do not interrupt the end of the children.
    """
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(*_: object) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    for number in numbers:
        signal.signal(number, interrupt)


def _prometheus(binary: str, folder: Folder, ports: Ports) -> Program:
    return Program(
        "prometheus",
        [
            binary,
            f"--config.file={folder.prometheus_config}",
            f"--storage.tsdb.path={folder.tsdb}",
            f"--storage.tsdb.retention.time={RETENTION}",
            f"--web.listen-address=127.0.0.1:{ports.prometheus}",
            # Base of links in alerts; the default is this machine's host name, on which it does not listen.
            f"--web.external-url=http://127.0.0.1:{ports.prometheus}",
        ],
    )


def _alertmanager(binary: str, folder: Folder, port: int) -> Program:
    # Forget sent notifications; otherwise an alert that fires again after a restart would not be sent for hours.
    (folder.alertmanager / "nflog").unlink(missing_ok=True)
    return Program(
        "alertmanager",
        [
            binary,
            f"--config.file={folder.alertmanager_config}",
            f"--storage.path={folder.alertmanager}",
            f"--web.listen-address=127.0.0.1:{port}",
            f"--web.external-url=http://127.0.0.1:{port}",
            # Disable clustering, which would look for an address on the network.
            "--cluster.listen-address=",
        ],
    )


def _limnograph(verb: str, folder: Folder, *more: str) -> Program:
    return Program(verb, [sys.executable, "-m", "limnograph", verb, "--config", str(folder.config), *more])


def _maintain(folder: Folder) -> Program:
    return _limnograph("maintain", folder, "--maintenance", str(folder.maintenance), "--watch")


def _live(folder: Folder, ports: Ports) -> Program:
    command = [sys.executable, "-m", "limnograph.demo.processes.live_job", "--config", str(folder.config)]
    command += ["--port", str(ports.live), "--server", f"http://127.0.0.1:{ports.server}"]
    return Program("live", command, {TOKEN_ENV: read_token(folder.token)})
