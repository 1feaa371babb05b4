"""Alerts on the wire: webhooks of Alertmanager and Grafana, and the pages of alerts. Times are epoch ms."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.answers.findings import EarlierEvent, Finding
from limnograph.domain.answers.view import View
from limnograph.domain.time import Millis

AlertStatus = Literal["firing", "resolved"]
State = Literal["firing", "resolved", "unknown"]
Muted = Literal["silenced", "inhibited"]


class AlertIn(msgspec.Struct, frozen=True, kw_only=True):
    """One alert of a webhook. Any field may be missing; a value of another type is read as text."""

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
    """Body of a webhook: Alertmanager's version 4, or Grafana's, which adds `orgId`."""

    alerts: list[AlertIn] | None = None
    status: Any = None
    version: Any = None
    receiver: Any = None
    group_key: Any = msgspec.field(default=None, name="groupKey")
    external_url: Any = msgspec.field(default=None, name="externalURL")
    truncated_alerts: Any = msgspec.field(default=None, name="truncatedAlerts")
    org_id: Any = msgspec.field(default=None, name="orgId")


class AlertTable(View, frozen=True, kw_only=True):
    """The table that an alert is about; unknown parts are null."""

    catalog: str | None
    table_namespace: str | None
    table: str | None


class AlertView(View, frozen=True, kw_only=True):
    """One episode of an alert. `starts_at`: when it began to fire; `ends_at`: null while firing or unknown.

    `state` is `unknown` if no end was received and neither Alertmanager nor Prometheus still has the alert, or nothing
    was received for a day; `heard_at` is then the time of the last notification. `muted`: as reported by Alertmanager,
    if queried.
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


class AlertRow(AlertView, frozen=True, kw_only=True):
    """One episode in the list. `finding`: what it is about, in its state of now; null: no finding belongs to it."""

    finding: Finding | None


class AlertSpan(View, frozen=True, kw_only=True):
    """An interval in which an alert fired; `end` null: still firing. Without a received end, `end` is the time of the
    last notification.
    """

    start: Millis = msgspec.field(name="from")
    end: Millis | None = msgspec.field(name="to")


class AlertWeek(View, frozen=True, kw_only=True):
    """Intervals in which one alert fired in the last seven days, oldest first; at most the latest hundred."""

    fingerprint: str
    spans: list[AlertSpan]


class AlertsPage(View, frozen=True, kw_only=True):
    """Alerts, firing ones first, then newest first. `firing`, `resolved`, `unknown`: the number of each. `weeks`: of
    each alert on the page, regardless of filters.
    """

    rows: list[AlertRow]
    weeks: list[AlertWeek]
    firing: int
    resolved: int
    unknown: int
    next_cursor: str | None


class AlertTransition(View, frozen=True, kw_only=True):
    """A received transition: `at` when it happened (null if the sender did not state it), `observed_at` when it was
    received.
    """

    status: AlertStatus
    at: Millis | None
    observed_at: Millis | None


class AlertLink(View, frozen=True, kw_only=True):
    """A link. `url` is null if the sender's value is not an http or https address; `text` is then plain text."""

    kind: Literal["runbook", "dashboard", "alertmanager", "silence", "source", "panel"]
    url: str | None
    text: str


class AlertWindow(View, frozen=True, kw_only=True):
    """The time range to show: begins an hour or more before the possible cause; `end` null: live."""

    start: Millis = msgspec.field(name="from")
    end: Millis | None = msgspec.field(name="to")


class Incident(View, frozen=True, kw_only=True):
    """One episode with its context. `active_at`: when its expression became true, if Prometheus still knows. `commits`:
    of its table within the window, newest first. `before`: earlier episodes, newest first. `finding`: what the alert is
    about, in its state of now, which outlasts the alert; null: no finding belongs to it. `earlier`: findings of its
    table that closed before it, commits that caused them and earlier commits that users wrote on, newest first.
    `notes`: number of notes on the episode; null until the notes have been read.
    """

    alert: AlertView
    finding: Finding | None
    active_at: Millis | None
    window: AlertWindow
    labels: dict[str, str]
    annotations: dict[str, str]
    expression: str | None
    transitions: list[AlertTransition]
    commits: list[CommitRow]
    before: list[AlertView]
    earlier: list[EarlierEvent]
    notes: int | None
    links: list[AlertLink]


class AlertTarget(View, frozen=True, kw_only=True):
    """The target of an alert link. `path` is a path of this server; null if the user has to choose among `tables` or no
    table is known. If the alert did not fire at the time in the link, the path keeps that time, and its page shows the
    closest episode and says so. `source`: where the answer was found. `finding`: what the alert is about; null: no
    finding belongs to it, or there is a record, which has it.
    """

    path: str | None
    source: Literal["record", "prometheus", "alertmanager", "url"]
    state: Literal["pending", "firing", "resolved", "unknown"]
    fingerprint: str | None
    active_at: Millis | None
    window: AlertWindow
    labels: dict[str, str]
    tables: list[AlertTable]
    finding: Finding | None


class AlertStreamEvent(View, frozen=True, kw_only=True):
    """Event `alert`: an alert began to fire, or was resolved."""

    alert: AlertView
