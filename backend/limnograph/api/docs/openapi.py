"""The OpenAPI 3.1 document: `python -m limnograph.api.docs.openapi > frontend/src/lib/api/openapi.json`.

Litestar's handlers define the paths. msgspec generates the schemas, so that they match what it encodes (tags, renamed
fields, nulls). The output is deterministic: sorted keys, no host, no build date.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import msgspec
from litestar import Litestar, Router
from litestar.di import Provide
from litestar.openapi.config import OpenAPIConfig

from limnograph import __version__
from limnograph.api.docs import openapi_details as details
from limnograph.api.routes import (
    alerts,
    effects,
    events,
    explain,
    find,
    findings,
    forecasts,
    notes,
    plans,
    sessions,
    stream,
    structure,
    system,
    tables,
)
from limnograph.api.routes import annotations as annotation_routes
from limnograph.api.routes import maintenance as maintenance_routes
from limnograph.api.wire import values, views
from limnograph.domain.advice import comparison
from limnograph.domain.advice import pages as maintenance_pages
from limnograph.domain.advice import plans as plan_views
from limnograph.domain.answers import alerts as alert_views
from limnograph.domain.answers import annotations as annotation_views
from limnograph.domain.answers import (
    columns,
    commits,
    effect_ledger,
    explanations,
    matches,
    partitions,
    reads,
    refs,
    runbooks,
    schemas,
    storage,
    timeline,
)
from limnograph.domain.answers import findings as finding_views
from limnograph.domain.answers import notes as note_views
from limnograph.domain.answers import tables as answers
from limnograph.domain.answers.stream import STREAM_EVENTS
from limnograph.domain.forecasts import pages as forecast_pages
from limnograph.domain.inbound import client_reports, notifications, openlineage, spark_reports, trino_events
from limnograph.services.server.backend import Backend

_WIRE = (
    answers.FleetHeat,
    answers.TablesPage,
    answers.TableDetail,
    answers.TableFacets,
    timeline.Timeline,
    commits.CommitsPage,
    commits.CommitDetail,
    runbooks.TableRunbook,
    partitions.PartitionsPage,
    schemas.SchemaPage,
    refs.RefsPage,
    reads.ReadsPage,
    columns.ColumnsPage,
    storage.StoragePage,
    explanations.ExplainPage,
    explanations.Label,
    answers.Status,
    alert_views.AlertsPage,
    alert_views.Incident,
    alert_views.AlertTarget,
    alert_views.AlertmanagerIn,
    annotation_views.AnnotationsPage,
    effect_ledger.LedgerPage,
    comparison.FleetComparison,
    maintenance_pages.MaintenancePage,
    maintenance_pages.TableMaintenance,
    plan_views.PlanDetail,
    plan_views.PlanView,
    plan_views.BreakersPage,
    plan_views.PlanProposalIn,
    plan_views.PlanDecisionIn,
    plan_views.BreakerClosingIn,
    views.PlanProblem,
    matches.Matches,
    finding_views.FindingsPage,
    finding_views.FindingDetail,
    forecast_pages.ForecastsPage,
    forecast_pages.TableForecastPage,
    note_views.TeamNote,
    note_views.NotesPage,
    views.Problem,
    views.RunIn,
    views.LabelIn,
    views.NoteIn,
    views.NoteProblem,
    views.AcceptedEvents,
    views.HealthView,
    views.SessionIn,
    views.SessionView,
    *STREAM_EVENTS.values(),
    openlineage.RunEvent,
    client_reports.ReportIn,
    notifications.CloudEvent,
    notifications.S3Event,
    notifications.Change,
    spark_reports.SparkReports,
    trino_events.TrinoQueryEvent,
)
_BODIES = {
    "createSession": "SessionIn",
    "postRun": "RunIn",
    "postLabel": "LabelIn",
    "postNote": "NoteIn",
    "proposePlan": "PlanProposalIn",
    "approvePlan": "PlanDecisionIn",
    "dismissPlan": "PlanDecisionIn",
    "withdrawPlan": "PlanDecisionIn",
    "cancelPlan": "PlanDecisionIn",
    "closeBreaker": "BreakerClosingIn",
    "postLineage": "RunEvent",
    "postIcebergReport": "ReportIn",
    "reportMetrics": "ReportIn",
    "reportMetricsWithPrefix": "ReportIn",
    "postCloudEvents": "CloudEvent",
    "postS3Event": "S3Event",
    "postDebezium": "Change",
    "postSparkReports": "SparkReports",
    "postTrinoEvent": "TrinoQueryEvent",
    "postAlertmanager": "AlertmanagerIn",
}
"""Request bodies by operation, because handlers parse them without Litestar. Where a route accepts several forms, the
simplest one.
"""


def routes() -> list[Any]:
    """Every documented handler; `api/app.py` serves the same ones."""
    inside: list[Any] = [
        *tables.HANDLERS,
        *structure.HANDLERS,
        *explain.HANDLERS,
        *system.API_HANDLERS,
        *events.API_HANDLERS,
        *alerts.API_HANDLERS,
        *annotation_routes.HANDLERS,
        *effects.HANDLERS,
        *maintenance_routes.HANDLERS,
        *plans.HANDLERS,
        *findings.HANDLERS,
        *forecasts.HANDLERS,
        *find.HANDLERS,
        *notes.HANDLERS,
        *sessions.API_HANDLERS,
        *stream.HANDLERS,
    ]
    root: list[Any] = [*system.ROOT_HANDLERS, *events.ROOT_HANDLERS, *alerts.ROOT_HANDLERS]
    return [Router("/api/v1", route_handlers=inside, guards=[values.only_known]), *root]


def document() -> dict[str, Any]:
    """The whole document as JSON values."""
    app = Litestar(
        route_handlers=routes(),
        dependencies={"backend": Provide(_no_backend, sync_to_thread=False)},
        openapi_config=OpenAPIConfig(
            title="Limnograph", version=__version__, create_examples=False, use_handler_docstrings=True
        ),
    )
    found: dict[str, Any] = app.openapi_schema.to_schema()
    # Litestar qualifies a struct's name with its module when two schemas differ; our names are unique.
    schemas = _schemas()
    scopes = _scopes(app)
    found["components"] = {"schemas": schemas, "securitySchemes": details.SECURITY_SCHEMES}
    found["servers"] = [{"url": "/"}]
    for path in found["paths"].values():
        for operation in path.values():
            _tidy(operation, schemas)
            details.complete(operation, scopes[operation["operationId"]])
            if body := _BODIES.get(operation["operationId"]):
                content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}}
                operation["requestBody"] = {"required": True, "content": content}
    _answers_of_readiness(found)
    return found


def _scopes(app: Litestar) -> dict[str, dict[str, Any]]:
    """The declarations of each operation: its scope, and whether its response is cached (`api/wire/access.py`)."""
    handlers = (handler for route in app.routes for handler in getattr(route, "route_handlers", ()))
    return {handler.operation_id: handler.opt for handler in handlers if isinstance(handler.operation_id, str)}


def _no_backend() -> Backend:
    raise NotImplementedError


def _schemas() -> dict[str, Any]:
    _, components = msgspec.json.schema_components(_WIRE, ref_template="#/components/schemas/{name}")
    return {name: _required(schema) for name, schema in components.items()}


def _required(schema: dict[str, Any]) -> dict[str, Any]:
    """A response contains every field, defaults included, except of structs with `omit_defaults`."""
    if schema.get("type") == "object" and schema.get("title") not in _OPTIONAL and schema.get("title") not in _TAKEN:
        schema = {**schema, "required": list(schema["properties"])}
    return schema


_OPTIONAL = {
    "CommitDetail",
    "Hypothesis",
    "LabelIn",
    "LaneQuery",
    "NoteIn",
    "PlanDecisionIn",
    "PlanProposalIn",
    "RunIn",
    "RunTableIn",
    "SessionIn",
    "Similar",
}
_TAKEN = {
    name
    for module in (openlineage, client_reports, notifications)
    for name, found in vars(module).items()
    if isinstance(found, type) and issubclass(found, msgspec.Struct)
} | {"AlertIn", "AlertmanagerIn"}
"""Structs of requests only: clients may omit fields with a default."""


def _tidy(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    operation.pop("deprecated", None)
    if operation["operationId"] == "getStream":
        _describe_stream(operation)
    for response in operation["responses"].values():
        response.pop("headers", None)
        if any(content["schema"] == {"type": "null"} for content in response.get("content", {}).values()):
            del response["content"]  # 204
        for content in response.get("content", {}).values():
            _point(content, schemas)
    for content in operation.get("requestBody", {}).get("content", {}).values():
        _point(content, schemas)


def _describe_stream(operation: dict[str, Any]) -> None:
    """OpenAPI 3.1 cannot describe server-sent events: the description names the schemas of their data."""
    told = ", ".join(f"`{kind}` with a `{data.__name__}`" for kind, data in STREAM_EVENTS.items())
    schema = {"type": "string", "description": f"Events: {told}; data is JSON in one line."}
    operation["responses"]["200"] = {
        "description": "Server-sent events; the stream stays open.",
        "content": {stream.MEDIA_TYPE: {"schema": schema}},
    }


def _point(content: dict[str, Any], schemas: dict[str, Any]) -> None:
    if content["schema"].get("type") == "string":
        return
    name = content["schema"].get("$ref", "").rsplit("/", 1)[-1].rsplit("_", 1)[-1]
    if name not in schemas:
        raise LookupError(f"{content['schema']} is not a wire struct; add it to _WIRE")
    content["schema"] = {"$ref": f"#/components/schemas/{name}"}


def _answers_of_readiness(found: dict[str, Any]) -> None:
    responses = found["paths"]["/readyz"]["get"]["responses"]
    responses["503"] = {**responses["200"], "description": "Not ready yet."}


def render() -> str:
    """The document as text, ending with a newline."""
    return json.dumps(document(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
