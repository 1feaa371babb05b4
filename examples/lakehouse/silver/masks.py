"""Personal data: which columns of the shop enter silver, and in which form. SQL and column lineage are made from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class SourceColumn(NamedTuple):
    """A column of silver. `source`: the shop's column; `type`: Spark's; `masked`: only a salted hash of it is kept."""

    name: str
    source: str
    type: str
    masked: bool = False


CUSTOMERS = (
    SourceColumn("id", "id", "bigint"),
    SourceColumn("email_hash", "email", "string", masked=True),
    SourceColumn("country", "country", "string"),
    SourceColumn("updated_at", "updated_at", "timestamp"),
)
"""The name does not enter silver at all."""
ORDERS = (
    SourceColumn("id", "id", "bigint"),
    SourceColumn("customer_id", "customer_id", "bigint"),
    SourceColumn("total_cents", "total_cents", "bigint"),
    SourceColumn("status", "status", "string"),
    SourceColumn("updated_at", "updated_at", "timestamp"),
)


def expression(column: SourceColumn, salt: str, image: str = "image") -> str:
    """Spark SQL that makes the column of a map of texts."""
    value = f"{image}['{column.source}']"
    if column.masked:
        return f"sha2(concat('{salt}', {value}), 256) as {column.name}"
    return f"cast({value} as {column.type}) as {column.name}"


def lineage(columns: tuple[SourceColumn, ...], source: Mapping[str, str]) -> dict[str, object]:
    """The columns as OpenLineage's `columnLineage` facet names them. `source`: namespace and name of the dataset."""
    return {
        column.name: {
            "inputFields": [
                {
                    **source,
                    "field": column.source,
                    "transformations": [
                        {
                            "type": "DIRECT",
                            "subtype": "TRANSFORMATION" if column.masked else "IDENTITY",
                            "masking": column.masked,
                        }
                    ],
                }
            ]
        }
        for column in columns
    }
