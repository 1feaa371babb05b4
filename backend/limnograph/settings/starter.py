"""The first settings file: a catalog or a folder, and what else can be set, commented out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

_HEAD = """\
# Settings of Limnograph. All keys: docs/settings.md. Check them at any time with `limnograph doctor`.

# The catalog whose tables are observed, with PyIceberg's property names. The pipeline writes Limnograph's own tables
# into the namespace `limnograph` of it; nothing else is ever written.
"""
_REST = """\

# Which tables: patterns over catalog.namespace.table; * matches one level, ** any number.
#[observe]
#include = ["**"]
#exclude = ["*.*.tmp_*"]

# Owners of tables, for filters and alerts; a table's property `owner` comes first.
#[[owners]]
#tables = "*.sales.*"
#owner = "team-sales"

# Prices for costs and savings; without them, list prices of S3 Standard in US dollars: docs/cost.md.
#[prices]
#currency = "EUR"
#storage_gb_month = 0.021
#put_1000 = 0.0048
#get_1000 = 0.0004
#vcpu_hour = 0.045
#as_of = "2026-11-01"

# A job that Limnograph does not find by itself: docs/prometheus.md.
#[[jobs]]
#name = "my_job"
#reads = ["*.sales.orders"]

# Who may open the dashboard: anyone on this machine, until a mode is set.
#[auth]
#mode = "tokens"
"""
_PROMETHEUS = """\

# Where job durations and alerts come from.
[prometheus.main]
url = {url}
"""
_NO_PROMETHEUS = """\

# Where job durations and alerts come from. Without it, pages have no job lanes.
#[prometheus.main]
#url = "http://127.0.0.1:9090"
"""


class FirstFolder(NamedTuple):
    """A folder that is searched for tables without a catalog; `format` empty: Delta and Hudi."""

    name: str
    location: str
    format: str = ""


def starter(
    catalogs: Mapping[str, Mapping[str, str]], *, folder: FirstFolder | None = None, prometheus: str | None = None
) -> str:
    """The text of a settings file. Keys and values are written as TOML strings, whatever they contain."""
    parts = [_HEAD]
    for name, properties in catalogs.items():
        lines = (f"{_key(key)} = {_text(value)}\n" for key, value in properties.items())
        parts.append(f"[catalogs.{_key(name)}]\n{''.join(lines)}")
    if folder is not None:
        parts.append(f"\n# Tables without a catalog.\n[[observe.warehouses]]\nname = {_text(folder.name)}\n")
        parts.append(f"location = {_text(folder.location)}\n")
        if folder.format:
            parts.append(f"format = {_text(folder.format)}\n")
    parts.append(_NO_PROMETHEUS if prometheus is None else _PROMETHEUS.format(url=_text(prometheus)))
    parts.append(_REST)
    return "".join(parts)


def _key(name: str) -> str:
    """A key of TOML; a dot in a property name makes tables of it, which the settings join again."""
    return name if all(part.replace("-", "").replace("_", "").isalnum() for part in name.split(".")) else _text(name)


def _text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
