"""Plans of maintenance: one plan, decisions on it, and breakers. Nothing here runs an action: `limnograph maintain`
does, if its own file allows it.
"""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, get, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import PathParameter

from limnograph.api.front.bodies import parsed_json
from limnograph.api.wire.access import APPROVE, AUDITED, PROPOSE, READ
from limnograph.api.wire.problems import MEDIA_TYPE, documented, encode, of_domain
from limnograph.api.wire.views import PlanProblem
from limnograph.domain.access import Identity, actor_of, permits
from limnograph.domain.advice.plans import (
    BreakerClosingIn,
    BreakersPage,
    PlanCaller,
    PlanDecision,
    PlanDecisionIn,
    PlanDetail,
    PlanProposalIn,
    PlanView,
)
from limnograph.domain.errors import Forbidden, PlanMoved, SourceUnavailable, Unauthenticated
from limnograph.domain.facts.plans import PlanFact
from limnograph.services.advice.plan_pages import PlanPages
from limnograph.services.plans.views import plan_view
from limnograph.services.server.backend import Backend

AnyRequest = Request[Any, Any, Any]
PlanId = Annotated[str, PathParameter(description="Id of the plan: 32 hexadecimal digits.")]


def _moved(request: AnyRequest, error: PlanMoved) -> Response[bytes]:
    """409 with the plan as it is now."""
    problem, _ = of_domain(error, request.scope["state"].get("request_id"))
    plan = None if error.plan is None else plan_view(error.plan)
    found = PlanProblem(**msgspec.structs.asdict(problem), plan=plan)
    return Response(encode(found), status_code=found.status, media_type=MEDIA_TYPE)


_CONFLICT = ResponseSpec(
    PlanProblem, description="Problem details with the plan.", media_type=MEDIA_TYPE, generate_examples=False
)
_DECISION: dict[str, Any] = {
    "status_code": 200,
    "responses": {**documented(404, 413, 503), 409: _CONFLICT},
    "exception_handlers": {PlanMoved: _moved},
}


@get(
    "/maintenance/{plan_id:str}",
    operation_id="getPlan",
    summary="One plan",
    responses=documented(404, 503),
    opt=READ,
)
async def get_plan(request: AnyRequest, backend: NamedDependency[Backend], plan_id: PlanId) -> PlanDetail:
    """The last transition of a plan and all earlier ones, its promise and its result, guards that do not hold, and
    what the caller may decide. A decision sends `arguments_sha256` and `seq` of this response.
    """
    return await asyncio.to_thread(pages_of(backend).detail, plan_id, _reader(request))


@post(
    "/maintenance/plans",
    operation_id="proposePlan",
    summary="Propose a plan that ended once more",
    opt=PROPOSE,
    **_DECISION,
)
async def propose_plan(request: AnyRequest, backend: NamedDependency[Backend]) -> PlanView:
    """Requires the scope `maintain:propose`. The proposer is the authenticated caller. 409 if the plan has not ended.
    Nothing runs before someone approves the plan.
    """
    caller, data = _decider(request), await parsed_json(request, PlanProposalIn)
    _audit(request, "propose", f"plan={data.plan_id}")
    pages = pages_of(backend)
    return _published(pages, await asyncio.to_thread(pages.propose, data.plan_id, caller, data.reason))


@post(
    "/maintenance/{plan_id:str}/approve",
    operation_id="approvePlan",
    summary="Approve a plan",
    opt=APPROVE,
    **_DECISION,
)
async def approve_plan(request: AnyRequest, backend: NamedDependency[Backend], plan_id: PlanId) -> PlanView:
    """Requires the scope `maintain:approve`; without authentication no one can approve. The approval is for exactly the
    arguments with `arguments_sha256`, and for the transition `seq`; if the plan has moved on since, the response is 409
    with the plan as it is now. `limnograph maintain` plans again before it runs anything, and its own file may forbid
    what was approved.
    """
    return await _decide(request, backend, plan_id, "approve")


@post(
    "/maintenance/{plan_id:str}/dismiss",
    operation_id="dismissPlan",
    summary="Decide against a proposed plan",
    opt=APPROVE,
    **_DECISION,
)
async def dismiss_plan(request: AnyRequest, backend: NamedDependency[Backend], plan_id: PlanId) -> PlanView:
    """Requires the scope `maintain:approve`. The rules do not propose the plan again for seven days; users may. 409 as
    for an approval.
    """
    return await _decide(request, backend, plan_id, "dismiss")


@post(
    "/maintenance/{plan_id:str}/withdraw",
    operation_id="withdrawPlan",
    summary="Take back a plan that the caller proposed",
    opt=PROPOSE,
    **_DECISION,
)
async def withdraw_plan(request: AnyRequest, backend: NamedDependency[Backend], plan_id: PlanId) -> PlanView:
    """Requires the scope `maintain:propose`, and that the caller proposed the plan. Also after the approval, until an
    executor takes the plan. 409 as for an approval.
    """
    return await _decide(request, backend, plan_id, "withdraw")


@post(
    "/maintenance/{plan_id:str}/cancel",
    operation_id="cancelPlan",
    summary="Cancel an approved or running plan",
    opt=APPROVE,
    **_DECISION,
)
async def cancel_plan(request: AnyRequest, backend: NamedDependency[Backend], plan_id: PlanId) -> PlanView:
    """Requires the scope `maintain:approve`. A plan that waits is `cancelled` at once. One that runs becomes
    `cancelling`: the executor ends its work within seconds, and what was committed until then stays. 409 as for an
    approval.
    """
    return await _decide(request, backend, plan_id, "cancel")


@get(
    "/maintenance/breakers",
    operation_id="listBreakers",
    summary="Open breakers of maintenance",
    responses=documented(503),
    opt=READ,
)
async def list_breakers(request: AnyRequest, backend: NamedDependency[Backend]) -> BreakersPage:
    """What stopped itself, why, and how it starts again."""
    return await asyncio.to_thread(pages_of(backend).breakers, _reader(request))


@post(
    "/maintenance/breakers/close",
    operation_id="closeBreaker",
    summary="Close a breaker",
    status_code=200,
    responses=documented(404, 413, 503),
    opt=APPROVE,
)
async def close_breaker(request: AnyRequest, backend: NamedDependency[Backend]) -> BreakersPage:
    """Requires the scope `maintain:approve`. Returns those that are still open. A condition that persists opens the
    breaker again.
    """
    caller, data, pages = _decider(request), await parsed_json(request, BreakerClosingIn), pages_of(backend)
    _audit(request, "close breaker", f"key={data.key}")
    await asyncio.to_thread(pages.close_breaker, data.key, caller)
    return await asyncio.to_thread(pages.breakers, caller)


def pages_of(backend: Backend) -> PlanPages:
    """The service. Raises SourceUnavailable: this server keeps no plans."""
    if backend.plans is None:
        raise SourceUnavailable("plans", "this server keeps no plans")
    return backend.plans


async def _decide(request: AnyRequest, backend: Backend, plan_id: str, decision: PlanDecision) -> PlanView:
    caller, seen = _decider(request), await parsed_json(request, PlanDecisionIn)
    _audit(request, decision, f"plan={plan_id[:64]} arguments_sha256={seen.arguments_sha256} seq={seen.seq}")
    pages = pages_of(backend)
    return _published(pages, await asyncio.to_thread(pages.decide, decision, plan_id, seen, caller))


def _published(pages: PlanPages, fact: PlanFact) -> PlanView:
    pages.publish(fact)
    return plan_view(fact)


def _decider(request: AnyRequest) -> PlanCaller:
    """The authenticated caller. Raises Forbidden."""
    identity = _identity(request)
    return _caller(identity, actor_of(identity.subject))


def _reader(request: AnyRequest) -> PlanCaller:
    """The caller of a page: one who cannot decide may still read it."""
    identity = _identity(request)
    try:
        return _caller(identity, actor_of(identity.subject))
    except Forbidden:
        return PlanCaller(actor="", may_propose=False, may_approve=False)


def _identity(request: AnyRequest) -> Identity:
    identity: Identity | None = request.scope["state"].get("identity")
    if identity is None:
        raise Unauthenticated("log in, or send an API token")
    return identity


def _caller(identity: Identity, actor: str) -> PlanCaller:
    scopes = identity.scopes
    return PlanCaller(
        actor=actor,
        may_propose=permits(scopes, "maintain:propose"),
        may_approve=permits(scopes, "maintain:approve"),
    )


def _audit(request: AnyRequest, decision: str, detail: str) -> None:
    """What the request's line in the audit log says besides who, when and the outcome."""
    request.scope["state"][AUDITED] = (f"plan {decision}", detail)


HANDLERS: list[Any] = [
    get_plan,
    propose_plan,
    approve_plan,
    dismiss_plan,
    withdraw_plan,
    cancel_plan,
    list_breakers,
    close_breaker,
]
