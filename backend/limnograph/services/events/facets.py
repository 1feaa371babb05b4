"""Dataset facets that are stored with a run: where its columns come from, and which are masked. Pure.

Stored as JSON text as sent, without schema references and free text: a transformation's description is often the
expression itself, with its literals, and those may be personal data.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from limnograph.domain.inbound.openlineage import ColumnLineageFacet, Facets, facet

KEPT = ("columnLineage", "lineage", "masking")
LONGEST_FACETS = 256 * 2**10
"""Characters of a dataset's facets that are stored; longer facets are replaced by `{"<facet>": null}`."""
_FREE_TEXT = {"_producer", "_schemaURL", "description", "transformationDescription"}
_DEEPEST = 20
_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Origin(NamedTuple):
    """An input column of an output column. `masked` None: not reported."""

    column: str
    namespace: str
    dataset: str
    field: str
    transformation: str | None
    masked: bool | None


def kept_facets(facets: Facets | None) -> str | None:
    """The facets to store, as JSON; None if there are none."""
    found: dict[str, object] = {}
    room = LONGEST_FACETS
    for name in KEPT:
        raw = (facets or {}).get(name)
        if raw is None:
            continue
        try:
            value = _plain(msgspec.json.decode(raw), 0)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        size = len(msgspec.json.encode(value))
        found[name] = value if size <= room else None
        room -= size if size <= room else 0
    return msgspec.json.encode(found).decode() if found else None


def origins(text: str | None) -> Iterator[Origin]:
    """Origins of columns in the `columnLineage` of stored facets; empty without one."""
    try:
        facets = _decoder.decode(text) if text else {}
    except (msgspec.MsgspecError, RecursionError):
        return
    lineage = facet(facets, "columnLineage", ColumnLineageFacet)
    for column, output in (lineage.fields if lineage else {}).items():
        old = {"MASKED": True, "IDENTITY": False}.get((output.transformation_type or "").upper())
        for source in output.input_fields:
            said = [step.masking for step in source.transformations if step.masking is not None]
            words = ["/".join(filter(None, (step.type, step.subtype))) for step in source.transformations]
            yield Origin(
                column=column,
                namespace=source.namespace,
                dataset=source.name,
                field=source.field,
                transformation=", ".join(dict.fromkeys(filter(None, words))) or output.transformation_type,
                masked=any(said) if said else old,
            )


def _plain(value: object, depth: int) -> object:
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        # Names of columns are keys too: only members of objects that the specification names are free text.
        is_map = depth > 0 and all(isinstance(item, dict) for item in value.values())
        return {key: _plain(item, depth + 1) for key, item in value.items() if is_map or key not in _FREE_TEXT}
    return [_plain(item, depth + 1) for item in value] if isinstance(value, list) else value
