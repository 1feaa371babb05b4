"""Routes of alerts: the webhook, the list, one incident, and the resolution of alert links."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlencode

from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.params import PathParameter, QueryParameter

from limnograph.api.routes.sessions import to_login
from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import OPEN, READ, WEBHOOK
from limnograph.api.wire.pagination import resolved
from limnograph.api.wire.problems import documented
from limnograph.api.wire.views import AcceptedEvents
from limnograph.domain.answers.alerts import AlertsPage, AlertTarget, Incident
from limnograph.domain.errors import InvalidInput
from limnograph.domain.inbound.alert_times import instant
from limnograph.domain.queries import DEFAULT_LIMIT
from limnograph.domain.time import LATEST_MS, Micros, Millis, to_micros
from limnograph.services.alerts.pages import AlertsQuery
from limnograph.services.alerts.targets import AlertQuestion
from limnograph.services.server.backend import Backend

AnyRequest = Request[Any, Any, Any]
State = Annotated[
    Literal["firing", "resolved", "unknown"] | None,
    QueryParameter(name="state", description="Only alerts in this state."),
]
Text = Annotated[str, QueryParameter(name="q", description="Part of the name or of a label, case-insensitive.")]
Mark = Annotated[str, PathParameter(description="Fingerprint of the alert, as sent.")]
StartsAt = Annotated[
    Millis | None,
    QueryParameter(
        name="starts_at",
        description="Start of the episode, epoch ms; default: the latest.",
        schema_extra={"minimum": 0, "maximum": LATEST_MS},
    ),
]
_MOST_LABELS, _LONGEST = 64, 1_024


@post(
    "/alertmanager",
    operation_id="postAlertmanager",
    summary="Accept alerts of Alertmanager or Grafana",
    status_code=202,
    responses=documented(413, 503),
    opt=WEBHOOK,
)
async def post_alertmanager(backend: NamedDependency[Backend], request: AnyRequest) -> AcceptedEvents:
    """Every transition is durable before the response; a repeat of (fingerprint, startsAt, status) changes nothing.
    When the inbox is full, the response is 503 with `Retry-After`.
    """
    taken = await backend.alerts.take(await request.body())
    return AcceptedEvents(accepted=taken.accepted, duplicates=taken.duplicates)


@get("/alerts", operation_id="listAlerts", summary="Alerts", responses=documented(), opt=READ, sync_to_thread=False)
def list_alerts(
    request: AnyRequest,
    backend: NamedDependency[Backend],
    *,
    only: State = None,
    text: Text = "",
    namespace: p.NamespaceFilter = "",
    cursor: p.Cursor = None,
    limit: p.Limit = DEFAULT_LIMIT,
) -> AlertsPage:
    """Alerts of the last thirty days: firing alerts first, then newest first."""
    asked = resolved(request, "alerts", cursor, {"state": only, "q": text, "ns": namespace})
    return backend.alerts.page(AlertsQuery(asked["state"], asked["q"], asked["ns"], cursor, v.page_size(limit)))


@get(
    "/alerts/resolve",
    operation_id="resolveAlert",
    summary="Resolve an alert link",
    responses=documented(503),
    opt={**READ, "labels": True},
)
async def resolve_alert(backend: NamedDependency[Backend], request: AnyRequest) -> AlertTarget:
    """Every parameter is a label, except `fp` (the fingerprint) and `startsAt` (epoch ms or RFC 3339). Recorded alerts
    take precedence over Prometheus, Alertmanager and the link. With several tables, or none, `path` is null and the
    user chooses.
    """
    return await backend.alerts.target(_question(request))


@get(
    "/alerts/{fingerprint:str}",
    operation_id="getAlert",
    summary="One incident",
    responses=documented(404, 503),
    opt=READ,
)
async def get_alert(backend: NamedDependency[Backend], fingerprint: Mark, starts_at: StartsAt = None) -> Incident:
    """The alert with its time window, the commits of its table in that window, its earlier episodes and links."""
    if starts_at is not None and not 0 <= starts_at <= LATEST_MS:
        raise InvalidInput("starts_at", "must be epoch milliseconds between 1970 and 3000")
    return await backend.alerts.incident(fingerprint, to_micros(starts_at))


@get("/a", include_in_schema=False, opt=OPEN)
async def alert_link(backend: NamedDependency[Backend], request: AnyRequest) -> Response[bytes]:
    """The link in alert rules. It redirects to a page of this server and nowhere else; an unauthenticated user logs in
    first.
    """
    identity = request.scope["state"].get("identity")
    if identity is None or "read" not in identity.scopes:
        return to_login(request)
    found = await backend.alerts.target(_question(request))
    to = found.path if found.source == "record" and found.path else _choosing(request)
    headers = {"location": to, "cache-control": "no-store"}
    return Response(b"", status_code=303, headers=headers, media_type="text/plain")


def _choosing(request: AnyRequest) -> str:
    pairs = _pairs(request)
    return "/alerts/resolve" + (f"?{urlencode(pairs)}" if pairs else "")


def _pairs(request: AnyRequest) -> list[tuple[str, str]]:
    """Parameters with a value, in the order of the link."""
    return parse_qsl(request.scope["query_string"].decode("latin-1"))[:_MOST_LABELS]


def _question(request: AnyRequest) -> AlertQuestion:
    labels: dict[str, str] = {}
    for name, value in _pairs(request):
        labels[name[:_LONGEST]] = value[:_LONGEST]
    mark = labels.pop("fp", None)
    starts = labels.pop("startsAt", None) or labels.pop("starts_at", None)
    for other in ("endsAt", "generator", "starts_at"):
        labels.pop(other, None)
    return AlertQuestion(labels, mark, _instant(starts))


def _instant(text: str | None) -> Micros | None:
    """Epoch microseconds; None for anything that is not an instant, because a link must never fail."""
    if text is None:
        return None
    if text.isascii() and text.isdecimal() and len(text) < 15:
        return to_micros(Millis(text))
    return instant(text)


API_HANDLERS: list[Any] = [post_alertmanager, list_alerts, resolve_alert, get_alert]
ROOT_HANDLERS: list[Any] = [alert_link]
