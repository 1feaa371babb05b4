"""Parses webhooks of Alertmanager and Grafana into facts. A missing or odd field of an alert never rejects the body."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from limnograph.domain.answers.alerts import AlertIn, AlertmanagerIn
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.ids import TableName
from limnograph.domain.inbound.alert_labels import fingerprint, job_of, named, tables
from limnograph.domain.inbound.alert_times import instant
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated
from limnograph.services.events.bodies import parse

HIDDEN = {"external_url": "__external_url__", "silence_url": "__silence_url__", "dashboard_url": "__dashboard_url__"}
HIDDEN |= {"panel_url": "__panel_url__"}
"""Addresses that a body has next to its annotations -> the annotation under which they are stored."""
_MOST_LABELS = 128
_LONGEST_LABEL, _LONGEST_ANNOTATION, _LONGEST_ID = 4_096, 16_384, 128


def parse_webhook(
    body: bytes, known: Callable[[], Sequence[TableName]], now: Micros, open_since: Callable[[str], Micros | None]
) -> list[AlertFact]:
    """The facts in a body. `open_since`: since when an alert fires, for senders that do not report it. Raises
    InvalidInput if the body is not a JSON object with a list `alerts`.
    """
    told = parse(body, AlertmanagerIn)
    by_table: dict[str, list[TableName]] = defaultdict(list)
    for name in known():
        for spelling in {name.table, name.plain.table}:
            by_table[spelling].append(name)
    return [_fact(alert, told, by_table, now, open_since) for alert in told.alerts or ()]


def _fact(
    alert: AlertIn,
    told: AlertmanagerIn,
    by_table: Mapping[str, Sequence[TableName]],
    now: Micros,
    open_since: Callable[[str], Micros | None],
) -> AlertFact:
    labels = _texts(alert.labels, _LONGEST_LABEL)
    annotations = _texts(alert.annotations, _LONGEST_ANNOTATION) | _addresses(alert, told)
    own = _text(alert.fingerprint, _LONGEST_ID) or fingerprint(labels)
    ends_at = instant(alert.ends_at)
    status = _status(alert, told, ends_at, now)
    starts_at = instant(alert.starts_at) or open_since(own) or truncated(now, MICROS_PER_SECOND)
    said = named(labels)
    found = tables(labels, by_table.get(said.table or "", ()))
    name = found[0] if len(found) == 1 else None
    return AlertFact(
        fingerprint=own,
        starts_at=starts_at,
        status=status,
        ends_at=None if status == "firing" or ends_at is None else max(ends_at, starts_at),
        alert_name=labels.get("alertname"),
        severity=labels.get("severity"),
        catalog=name.catalog if name else said.catalog,
        namespace=name.namespace if name else None if said.weak else said.namespace,
        table=name.table if name else said.table,
        job_name=job_of(labels),
        labels=labels,
        annotations=annotations,
        generator_url=_text(alert.generator_url, _LONGEST_ANNOTATION),
        group_key=_text(told.group_key, _LONGEST_LABEL),
        source="grafana" if told.org_id is not None else "alertmanager",
        observed_at=now,
    )


def _status(alert: AlertIn, told: AlertmanagerIn, ends_at: Micros | None, now: Micros) -> str:
    """The alert's own status; without one, resolved if its end has passed, else the status of its group."""
    if alert.status in {"firing", "resolved"}:
        return str(alert.status)
    if ends_at is not None:
        return "resolved" if ends_at <= now else "firing"
    return "resolved" if told.status == "resolved" else "firing"


def _addresses(alert: AlertIn, told: AlertmanagerIn) -> dict[str, str]:
    given = {"external_url": told.external_url, "silence_url": alert.silence_url}
    given |= {"dashboard_url": alert.dashboard_url, "panel_url": alert.panel_url}
    return {HIDDEN[name]: text for name, value in given.items() if (text := _text(value, _LONGEST_ANNOTATION))}


def _texts(values: Mapping[str, Any] | None, longest: int) -> dict[str, str]:
    """The values as text; null, empty and nested values are left out."""
    found = {name[:_LONGEST_ID]: _text(value, longest) for name, value in list((values or {}).items())[:_MOST_LABELS]}
    return {name: value for name, value in found.items() if value is not None}


def _text(value: Any, longest: int) -> str | None:
    if value is None or isinstance(value, dict | list) or value == "":
        return None
    return str(value).replace("\x00", "")[:longest]
