"""Alerts on the wire: what Alertmanager and Grafana send, and what the pages of alerts are told. Times epoch ms."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.tables import View
from limnograph.domain.time import Millis

AlertStatus = Literal["firing", "resolved"]
State = Literal["firing", "resolved", "unknown"]
Muted = Literal["silenced", "inhibited"]


class AlertIn(msgspec.Struct, frozen=True, kw_only=True):
    """One alert of a webhook. Everything may be missing; what is of another type is read as its text."""

    status: Any = None
    labels: dict[str, Any] | None = None
    annotations: dict[str, Any] | None = None
    starts_at: Any = msgspec.field(default=None, name="startsAt")
    ends_at: Any = msgspec.field(default=None, name="endsAt")
    generator_url: Any = msgspec.field(default=None, name="generatorURL")
    fingerprint: Any = None
    silence_url: Any = msgspec.field(default=None, name="silenceURL")
    dashboard_url: Any = msgspec.field(default=None, name="dashboardURL")
    panel_url: Any = msgspec.field(default=None, name="panelURL")


class AlertmanagerIn(msgspec.Struct, frozen=True, kw_only=True):
    """Body of a webhook: Alertmanager's version 4, or Grafana's, which has `orgId` too."""

    alerts: list[AlertIn] | None = None
    status: Any = None
    version: Any = None
    receiver: Any = None
    group_key: Any = msgspec.field(default=None, name="groupKey")
    external_url: Any = msgspec.field(default=None, name="externalURL")
    truncated_alerts: Any = msgspec.field(default=None, name="truncatedAlerts")
    org_id: Any = msgspec.field(default=None, name="orgId")


class AlertTable(View, frozen=True, kw_only=True):
    """The table that an alert is about; null parts are not known."""

    catalog: str | None
    table_namespace: str | None
    table: str | None


class AlertView(View, frozen=True, kw_only=True):
    """One episode of an alert. `starts_at`: when it began to fire; `ends_at`: null while it does, or not known.

    `state` is `unknown` where no end was told and neither Alertmanager nor Prometheus has it any more, or nothing was
    heard of it for a day; `heard_at`: then the last time that it was. `muted`: as Alertmanager has it, if asked.
    """

    fingerprint: str
    starts_at: Millis
    ends_at: Millis | None
    state: State
    heard_at: Millis | None
    muted: Muted | None
    alert_name: str | None
    severity: str | None
    table: AlertTable | None
    job_name: str | None
    summary: str | None
    source: str | None


class AlertSpan(View, frozen=True, kw_only=True):
    """A time that an alert fired; `end` null: it still does. Of one whose end nobody told, to when it was heard of."""

    start: Millis = msgspec.field(name="from")
    end: Millis | None = msgspec.field(name="to")


class AlertWeek(View, frozen=True, kw_only=True):
    """When one alert fired in the last seven days, oldest first; the newest hundred times."""

    fingerprint: str
    spans: list[AlertSpan]


class AlertsPage(View, frozen=True, kw_only=True):
    """Alerts, firing ones first, then newest first. `firing`, `resolved`, `unknown`: how many there are of each.
    `weeks`: of each alert of the page, whatever the page is narrowed to.
    """

    rows: list[AlertView]
    weeks: list[AlertWeek]
    firing: int
    resolved: int
    unknown: int
    next_cursor: str | None


class AlertTransition(View, frozen=True, kw_only=True):
    """What was told: `at` when it happened (null where the sender did not say), `observed_at` when it came here."""

    status: AlertStatus
    at: Millis | None
    observed_at: Millis | None


class AlertLink(View, frozen=True, kw_only=True):
    """A way out. `url` is null where what the sender gave is no http or https address: then `text` is only text."""

    kind: Literal["runbook", "dashboard", "alertmanager", "silence", "source", "panel"]
    url: str | None
    text: str


class AlertWindow(View, frozen=True, kw_only=True):
    """The time to look at: from an hour or more before the cause may lie; `end` null: live."""

    start: Millis = msgspec.field(name="from")
    end: Millis | None = msgspec.field(name="to")


class Incident(View, frozen=True, kw_only=True):
    """One episode with what stands around it. `active_at`: when its expression became true, where Prometheus still
    knows. `commits`: of its table within the window, newest first. `before`: earlier episodes, newest first.
    """

    alert: AlertView
    active_at: Millis | None
    window: AlertWindow
    labels: dict[str, str]
    annotations: dict[str, str]
    expression: str | None
    transitions: list[AlertTransition]
    commits: list[CommitRow]
    before: list[AlertView]
    links: list[AlertLink]


class AlertTarget(View, frozen=True, kw_only=True):
    """Where a link with labels leads. `path` is a path of this server; null when a person has to choose among `tables`
    or nothing is known. `source`: who knew it.
    """

    path: str | None
    source: Literal["record", "prometheus", "alertmanager", "url"]
    state: Literal["pending", "firing", "resolved", "unknown"]
    fingerprint: str | None
    active_at: Millis | None
    window: AlertWindow
    labels: dict[str, str]
    tables: list[AlertTable]


class AlertStreamEvent(View, frozen=True, kw_only=True):
    """Event `alert`: an alert began to fire, or was resolved."""

    alert: AlertView
