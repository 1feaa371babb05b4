"""Partition paths in Iceberg's notation: `day=2026-11-20/region=eu`, empty for an unpartitioned table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from limnograph.domain.metadata.partition_text import NULL, shortened, string_text

_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"


def partition_fields(properties: Mapping[str, str]) -> list[str]:
    """Names of the partition fields; `field:TYPE` of custom key generators is reduced to the field."""
    text = properties.get("hoodie.table.partition.fields", "")
    return [field.split(":", 1)[0].strip() for field in text.split(",") if field.strip()]


def partition_spec(properties: Mapping[str, str]) -> dict[str, Any]:
    """The only spec of a Hudi table, in Iceberg's form. The metadata does not record a key generator's transform."""
    fields = [{"name": name, "transform": "identity"} for name in partition_fields(properties)]
    return {"spec-id": 0, "fields": fields}


class PartitionText:
    """Text of a partition path: `name=value` per field if there is one folder per field; else the path itself (a key
    generator may write several folders for one field).
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._fields = partition_fields(properties)
        self._encoded = properties.get("hoodie.datasource.write.partitionpath.urlencode") == "true"

    @property
    def partitioned(self) -> bool:
        """Whether the table has partition fields."""
        return bool(self._fields)

    def __call__(self, path: str) -> str:
        parts = path.split("/") if path else []
        if len(parts) != len(self._fields):
            return path
        return "/".join(self._part(field, part) for field, part in zip(self._fields, parts, strict=True))

    def _part(self, field: str, part: str) -> str:
        value = part.removeprefix(f"{field}=")
        if value == _DEFAULT_PARTITION:
            return f"{field}={NULL}"
        return f"{field}={shortened(string_text(unquote(value, errors='replace') if self._encoded else value))}"
