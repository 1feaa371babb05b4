"""Routes of Explain: why a job of a table changed, and labels by users."""

from __future__ import annotations

from typing import Any

from litestar import Request, Router, get, post
from litestar.di import NamedDependency

from limnograph.api.front.bodies import parsed
from limnograph.api.wire import parameters as p
from limnograph.api.wire import values as v
from limnograph.api.wire.access import ANNOTATE, READ
from limnograph.api.wire.problems import documented
from limnograph.api.wire.views import LabelIn
from limnograph.domain.answers.explanations import ExplainPage, Label
from limnograph.domain.errors import InvalidInput
from limnograph.domain.time import to_millis
from limnograph.services.explain.baseline import windows
from limnograph.services.explain.labels import LabelInput
from limnograph.services.server.backend import Backend


@get(
    "/explain",
    operation_id="explain",
    summary="Explain a job's change",
    responses=documented(404, 503),
    opt=READ,
)
async def get_explanation(
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
    start: p.From = None,
    end: p.To = None,
    job: p.Job = None,
    baseline: p.BaselineChoice = "before",
    baseline_from: p.BaselineFrom = None,
    baseline_to: p.BaselineTo = None,
) -> ExplainPage:
    """Changes of the job in the range, ranked hypotheses with evidence, a verdict; default the last six hours. "No
    commit explains this" is a valid verdict. `differences`: how the commits of the range differ from those of the
    baseline. `labels`: labels by users.
    """
    first, last = v.span(start, end, to_millis(backend.clock.now()), 6 * v.HOUR_MS)
    asked = windows(first, last, baseline, (baseline_from, baseline_to))
    return await backend.explanations.page(v.known_name(backend, catalog, namespace, table), asked, job)


@post(
    "/labels",
    operation_id="postLabel",
    summary="Confirm or reject a suspect",
    status_code=202,
    responses=documented(404, 413, 503),
    opt=ANNOTATE,
)
async def post_label(
    request: Request[Any, Any, Any],
    backend: NamedDependency[Backend],
    *,
    catalog: p.Catalog,
    namespace: p.Namespace,
    table: p.Table,
) -> Label:
    """Requires the scope `annotate`; labels are visible to everyone. Durable in the inbox before the response. The
    latest label on a commit of a job applies; `withdrawn` retracts it. Nothing is ever deleted.
    """
    data = await parsed(request, LabelIn)
    if data.end < data.start:
        raise InvalidInput("to", "must not be before from")
    name = v.known_name(backend, catalog, namespace, table)
    identity = request.scope["state"].get("identity")
    said = LabelInput(
        kind=data.kind,
        snapshot_id=v.snapshot_id(data.snapshot_id),
        start=data.start,
        end=data.end,
        job_name=data.job_name,
        comment=data.comment,
    )
    return await backend.explanations.say(name, said, identity.subject if identity else "local")


HANDLERS = [
    Router("/tables/{catalog:str}/{namespace:str}/{table:str}", route_handlers=[get_explanation, post_label]),
]
