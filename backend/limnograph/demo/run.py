"""`limnograph demo`: builds what is missing, starts all parts, prints the address, and runs until it is stopped."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from limnograph.demo import building
from limnograph.demo.folder import Folder
from limnograph.demo.login import login_link, read_token
from limnograph.demo.processes import supervisor
from limnograph.demo.processes.tools import server_port
from limnograph.demo.progress import Progress
from limnograph.demo.story.story import Story

USUAL_PORT = 8787
USUAL_DIR = Path(".demo")


def run(root: Path, *, port: int | None, fresh: bool, jobs_every: int, login: bool = True) -> None:
    """Run until Ctrl-C or SIGTERM. `jobs_every`: seconds between two runs of a generated job; `login`: whether the
    server requires its token. Raises LimnographError with the remedy.
    """
    progress, folder = Progress(), Folder(root)
    supervisor.stop_on_signals()
    with folder.held():
        ports = supervisor.Ports.choose(server_port(port, USUAL_PORT))
        if fresh:
            folder.clear()
        try:
            told = building.ensure(folder, int(time.time() * 1000), progress)
            with supervisor.everything(folder, told, ports, progress, jobs_every=jobs_every, login=login) as children:
                sys.stderr.write(welcome(told, ports, folder, progress.seconds, login=login))
                supervisor.watch(children, progress)
        except KeyboardInterrupt:
            progress.say("stopped; the lake is kept for the next start")


def story_url(server: str, told: Story) -> str:
    """Address of the story's table page, with the range of the story."""
    catalog, namespace, table = told.table.split(".")
    return f"{server}/t/{catalog}/{namespace}/{table}?from={told.view_from}&to={told.view_to}"


def welcome(told: Story, ports: supervisor.Ports, folder: Folder, seconds: float, *, login: bool) -> str:
    """The message that is printed when the demo is ready."""
    server = ports.addresses["server"]
    where = "" if folder.root == Folder(USUAL_DIR).root else f" --dir {folder.root}"
    link = f"  Log in       {login_link(server, read_token(folder.token))}\n" if login else ""
    return f"""
Limnograph is up after {seconds:.0f} s.

{link}  All tables   {server}/
  The story    {story_url(server, told)}
  Prometheus   {ports.addresses["prometheus"]}

At 03:04:12 UTC on {told.demo_day} an append added 50,000 small files to {told.table}; from 03:05 the job
{told.slowdown.job_name} takes three times as long, until the compaction at 05:30.
Real: every Iceberg commit ({told.snapshots:,} snapshots), and all that {", ".join(LIVE)} receive from now on.
Generated: the durations of jobs, which follow the number of files in their tables; most data files are only described,
and times were moved.
An alert on request: limnograph demo burst{where} (in a second terminal).
Logs: {folder.logs}. Stop with Ctrl-C.

"""


LIVE = ("sales.orders", "sales.carts")
