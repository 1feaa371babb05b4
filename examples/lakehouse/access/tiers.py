"""Rules of Trino's file-based access control, one for each tier of personal data that a table declares (`pii`).

| tier | an analyst reads |
|---|---|
| `raw` | nothing |
| `user_id` | rows without payments, the id as NULL |
| `hash` | the first characters of a hash; of customers, only those of one country |
| `none` | everything |

Tables without a rule are closed to analysts: a new table is invisible until it is declared here. Only Trino applies
the rules: whoever has a key of the object store reads the files.
"""

from __future__ import annotations

import json
from typing import Any

from lakehouse.bronze.tables import TABLES
from lakehouse.gold.features import USER_FEATURES
from lakehouse.gold.revenue import REVENUE
from lakehouse.parts.lake import TableLayout
from lakehouse.silver.merge import layout
from lakehouse.silver.sessions import SESSIONS

ENGINEER, ANALYST = "lakehouse", "analyst"
SCRAPER = "prometheus"
"""Reads Trino's metrics, and no table."""
DECLARED = (*TABLES, layout("customers"), layout("orders"), SESSIONS, REVENUE, USER_FEATURES)
HASHES, SHOWN = ("email_hash", "user_hash"), 8
FILTERS = {"customers": "country = 'DE'", "clicks": "page <> '/pay'"}
EVERYTHING = ["SELECT", "INSERT", "DELETE", "UPDATE", "OWNERSHIP"]


def rules() -> dict[str, Any]:
    """The content of Trino's file. Of several rules that match, the first one decides."""
    tables = [_table(each) for each in DECLARED if each.pii != "raw"]
    return {
        "catalogs": [
            {"user": ENGINEER, "catalog": "lake|system", "allow": "all"},
            {"user": ANALYST, "catalog": "lake|system", "allow": "read-only"},
        ],
        "tables": [
            {"user": ENGINEER, "privileges": EVERYTHING},
            *({"user": ANALYST, "catalog": "lake", **each} for each in tables),
            {"user": ANALYST, "catalog": "system", "privileges": ["SELECT"]},
        ],
        "system_information": [{"user": SCRAPER, "allow": ["read"]}],
    }


def rules_json() -> str:
    """The file's text."""
    return json.dumps(rules(), indent=2)


def _table(table: TableLayout) -> dict[str, Any]:
    """Of one table: what of its rows and columns an analyst sees."""
    _, schema, name = table.name.split(".")
    found: dict[str, Any] = {"schema": schema, "table": name, "privileges": ["SELECT"]}
    if columns := _masks(table):
        found["columns"] = columns
    if name in FILTERS:
        found["filter"] = FILTERS[name]
    return found


def _masks(table: TableLayout) -> list[dict[str, str]]:
    names = {part.split()[0] for part in table.columns.split(",")}
    if table.pii == "user_id":
        return [{"name": "user_id", "mask": "cast(null as bigint)"}]
    if table.pii == "hash":
        return [{"name": each, "mask": f"substr({each}, 1, {SHOWN})"} for each in HASHES if each in names]
    return []
