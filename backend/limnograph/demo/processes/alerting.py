"""The demo's Alertmanager and rules: the shipped rules unchanged, with thresholds for its tables; alerts are sent
immediately.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from limnograph.demo.processes.tools import folders
from limnograph.demo.story.plan import LIVE_APPEND_TABLE, LIVE_DELETE_TABLE, QUIET_TABLE
from limnograph.domain.errors import EnvironmentFault

NAMES = ("prometheus-alertmanager", "alertmanager")
"""Names of the program: Debian's, and the usual one."""
MISSING = (
    "Alertmanager was not found, so alerts are shown only in Prometheus: apt-get install prometheus-alertmanager "
    "(Debian), dnf install golang-github-prometheus-alertmanager (Fedora), brew install alertmanager (macOS)"
)
BURST_ALERT = "SmallFileProliferation"
_PLACES = (Path(__file__).parents[2] / "_rules", Path(__file__).parents[4] / "deploy" / "prometheus" / "rules")
"""Folders of the rules: in the wheel, and in a checkout."""
_NEVER_S = 366 * 86_400


def alertmanager() -> Path | None:
    """The program, in the folder of tools or on PATH; None if it is not installed."""
    for folder in folders():
        file = folder / "alertmanager" / "alertmanager"
        if file.is_file() and os.access(file, os.X_OK):
            return file
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def rules() -> Path:
    """The folder of the shipped rules. Raises EnvironmentFault if they were not packaged."""
    found = next((place for place in _PLACES if place.is_dir()), None)
    if found is None:
        raise EnvironmentFault("the alert rules are missing in this installation; reinstall limnograph")
    return found


def alertmanager_yml(server_port: int, token: Path) -> str:
    """Configuration that sends every alert to the server immediately: each alert is its own group, without a group
    wait. Alerts about findings stay in Alertmanager: the server shows the findings themselves. `token`: file of the
    token that the server accepts.
    """
    return f"""# Written by `limnograph demo` at every start. For a team: deploy/alertmanager/alertmanager.yml.
route:
  receiver: limnograph
  group_by: ["..."]
  group_wait: 0s
  group_interval: 5s
  routes:
    - matchers: [limnograph_finding=~".+"]
      receiver: findings
receivers:
  - name: findings
  - name: limnograph
    webhook_configs:
      - url: http://127.0.0.1:{server_port}/api/v1/alertmanager
        send_resolved: true
        http_config:
          authorization: {{credentials_file: {json.dumps(str(token))}}}
"""


def thresholds_yml(tables: list[str]) -> str:
    """Thresholds that let only one table raise a staleness alert. The others have no writer, so their history ends with
    the build, as expected. `tables`: `catalog.namespace.table`.
    """
    spoken_for = {f"lake.{name}" for name in (LIVE_APPEND_TABLE, LIVE_DELETE_TABLE, QUIET_TABLE)}
    rules = "".join(_never_stale(*name.split(".")) for name in tables if name not in spoken_for)
    return f"""# Written by `limnograph demo` at every start: thresholds of single tables instead of the shipped ones.
groups:
  - name: demo-thresholds
    rules:
{rules}"""


def link(server: str, table: str) -> str:
    """The link of a burst's alert. `table`: `namespace.table`."""
    namespace, name = table.split(".")
    return f"{server}/a?alertname={BURST_ALERT}&catalog=lake&table_namespace={namespace}&table={name}"


def _never_stale(catalog: str, namespace: str, table: str) -> str:
    labels = {"catalog": catalog, "table_namespace": namespace, "table": table}
    return f"""      - record: limnograph:stale_seconds:override
        expr: vector({_NEVER_S})
        labels: {json.dumps(labels)}
"""
