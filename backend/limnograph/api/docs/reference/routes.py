"""The reference page: introduction, every route with its parameters and responses, problems, structs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from limnograph.api.docs.openapi import document
from limnograph.api.docs.reference import structs
from limnograph.api.docs.reference.blocks import Block, Code, Heading, Table, Text
from limnograph.api.docs.reference.examples import curl
from limnograph.api.wire.problems import MEDIA_TYPE, STATUS

TITLE = "Limnograph API"
_INTRODUCTION = """\
Everything is JSON, UTF-8. Times are epoch milliseconds in UTC. Ids of snapshots are text, because a double cannot
hold them. A number that is not known is null, never 0. In a path segment `~` is written `~~`, a dot inside a level
`~d` and a slash `~s`; levels of a namespace are joined with a dot. Any other spelling of a path, and unknown
parameters, are rejected.

**Authentication**: unless `auth.mode` is `none`, send an API token (`limnograph token create NAME --scope read`) as
`Authorization: Bearer …`; browsers send a session cookie. Each route names the scope that it requires.

**Errors** are `application/problem+json` ([Problem](#problem)) with a `type` of a [closed set](#problems). They
name the parameter or field, and `request_id`, which is also in the server's log.

**Caching**: pages carry an `ETag`; a request with `If-None-Match` returns 304 without a body while the page is
unchanged. If a source fails and the rest of a response is available, the response names the source and its age."""


def blocks() -> list[Block]:
    """The whole page."""
    found = document()
    schemas = found["components"]["schemas"]
    return [
        Heading(1, TITLE),
        *map(Text, _INTRODUCTION.split("\n\n")),
        *(
            block
            for path, operations in sorted(found["paths"].items())
            for method, operation in sorted(operations.items())
            for block in _route(method, path, operation)
        ),
        *_problems(),
        Heading(2, "Structs"),
        *structs.blocks(schemas),
    ]


def _route(method: str, path: str, operation: dict[str, Any]) -> Iterator[Block]:
    yield Heading(2, f"{method.upper()} {path}")
    yield Text(f"**{operation['summary']}.** {' '.join(operation.get('description', '').split())}".strip())
    scopes = {scope for way in operation["security"] for names in way.values() for scope in names}
    yield Text(f"Scope: {', '.join(f'`{scope}`' for scope in sorted(scopes)) or 'none, open to anyone'}.")
    if parameters := operation.get("parameters"):
        yield Table(("parameter", "in", "type", "meaning"), [_parameter(found) for found in parameters])
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        yield Text(f"Body: `{kind}`, {structs.spell(content['schema'])}.")
    yield Table(("answer", "body"), list(_answers(operation["responses"])))
    yield Code("sh", curl(method, path, operation))


def _parameter(found: dict[str, Any]) -> tuple[str, ...]:
    schema = found["schema"]
    kind = structs.spell({key: value for key, value in schema.items() if key != "pattern"})
    default = f" Default `{schema['default']}`." if schema.get("default") not in (None, "") else ""
    needed = "" if found["required"] else " (optional)"
    return f"`{found['name']}`{needed}", found["in"], kind, found.get("description", "") + default


def _answers(responses: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for status, response in sorted(responses.items()):
        content = response.get("content", {})
        if MEDIA_TYPE in content and len(content) == 1:
            kinds = (kind for kind, (code, _) in STATUS.items() if str(code) == status)
            yield f"`{status}`", "problem " + ", ".join(f"`{kind}`" for kind in kinds)
            continue
        bodies = [f"`{kind}`, {_body(kind, told['schema'])}" for kind, told in content.items()]
        yield f"`{status}`", "; ".join(bodies) or response["description"]


def _body(kind: str, schema: dict[str, Any]) -> str:
    return schema.get("description") or (structs.spell(schema) if kind == "application/json" else "text")


def _problems() -> Iterator[Block]:
    yield Heading(2, "Problems")
    yield Text("The `type` of a problem is one of these, with its status and title.")
    yield Table(
        ("type", "status", "title"), [(f"`{kind}`", str(code), title) for kind, (code, title) in STATUS.items()]
    )
