"""Links of an alert: runbook, Alertmanager, Prometheus. Addresses from senders become links only over http or https."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qs, quote, urlsplit

from limnograph.domain.answers.alerts import AlertLink
from limnograph.domain.facts.events import AlertFact
from limnograph.domain.inbound.alert_labels import matcher
from limnograph.services.alerts.intake import HIDDEN

_DURATION = re.compile(r"(?:\[|offset\s+)((?:\d+(?:ms|[smhdwy]))+)")
_PART = re.compile(r"(\d+)(ms|[smhdwy])")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000}
_LONGEST_S = 7 * 86_400
"""The longest range of an expression by which the window is widened."""


def safe(url: str | None) -> str | None:
    """The address if it is safe for a browser: http or https with a host, and no characters that browsers drop or
    rewrite.
    """
    if not url or len(url) > 8_192 or "\\" in url or any(ord(char) <= 0x20 or ord(char) == 0x7F for char in url):
        return None
    try:
        parts = urlsplit(url)
        named = parts.hostname and parts.username is None
    except ValueError:
        return None
    return url if parts.scheme in {"http", "https"} and named else None


def matchers(labels: Mapping[str, str]) -> str:
    """`{a="b",…}` in the syntax of Alertmanager's pages."""
    return "{" + ",".join(matcher(name, value) for name, value in sorted(labels.items())) + "}"


def links(fact: AlertFact, alertmanager: str | None) -> list[AlertLink]:
    """`alertmanager`: its address in the settings; without it the one in the webhook is used."""
    told = fact.annotations or {}
    found: list[AlertLink] = []
    for kind, url in (("runbook", told.get("runbook_url")), ("source", fact.generator_url)):
        found += _link(kind, url)
    base = safe(alertmanager) or (safe(told.get(HIDDEN["external_url"])) if fact.source != "grafana" else None)
    if base and fact.source != "grafana":
        filters = quote(matchers(fact.labels or {}), safe="")
        found += _link("alertmanager", f"{base.rstrip('/')}/#/alerts?filter={filters}")
        found += _link("silence", f"{base.rstrip('/')}/#/silences/new?filter={filters}")
    found += _link("silence", told.get(HIDDEN["silence_url"]))
    found += _link("dashboard", told.get(HIDDEN["dashboard_url"]))
    return found + _link("panel", told.get(HIDDEN["panel_url"]))


def expression(generator_url: str | None) -> str | None:
    """The rule's expression, from Prometheus' link."""
    try:
        found = parse_qs(urlsplit(generator_url or "").query).get("g0.expr", [])
    except ValueError:
        return None
    return found[0] if found else None


def longest_range_s(asked: str | None) -> float:
    """The longest range or offset in an expression, in seconds, at most _LONGEST_S."""
    spans = (
        sum(int(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
        for text in _DURATION.findall(asked or "")
    )
    return min(max(spans, default=0.0), _LONGEST_S)


def _link(kind: str, url: str | None) -> list[AlertLink]:
    if not url:
        return []
    good = safe(url)
    return [AlertLink(kind=kind, url=good, text=(urlsplit(good).hostname or "") if good else url)]  # type: ignore[arg-type]
