"""Labels of alerts: Prometheus' fingerprint of a label set, and the table that the labels name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from limnograph.domain.ids import TableName

CATALOG = ("catalog", "exported_catalog")
NAMESPACE = ("table_namespace", "exported_table_namespace", "exported_namespace", "namespace", "schema", "database")
TABLE = ("table", "exported_table", "table_name", "dataset")
JOB = ("job_name", "exported_job_name")
TABLE_LABELS = frozenset({*CATALOG, *NAMESPACE, *TABLE})
"""Every label that may contain a part of a table's name."""
_WEAK = "namespace"
"""Kubernetes overwrites this label with its own namespace, so a value that fits no table is ignored."""
_CLASSIC = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_OFFSET, _PRIME, _BITS = 0xCBF29CE484222325, 0x100000001B3, 2**64 - 1


def fingerprint(labels: Mapping[str, str]) -> str:
    """FNV-1a, 64 bits, over the sorted labels, each name and value followed by 0xFF (Prometheus' `LabelSet`)."""
    found = _OFFSET
    for name in sorted(labels):
        for byte in name.encode() + b"\xff" + labels[name].encode() + b"\xff":
            found = ((found ^ byte) * _PRIME) & _BITS
    return f"{found:016x}"


def matcher(name: str, value: str) -> str:
    """A matcher `name="value"` for Alertmanager. Since 0.27 names may be any UTF-8; those other than classic names are
    quoted like values.
    """
    return f"{name if _CLASSIC.fullmatch(name) else _quoted(name)}={_quoted(value)}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


class NamedTable(NamedTuple):
    """The parts of a table's name that labels contain. `weak`: the namespace label may have another meaning."""

    catalog: str | None
    namespace: str | None
    table: str | None
    weak: bool = False


def named(labels: Mapping[str, str]) -> NamedTable:
    """The table that labels name; the first alias that is set wins. Without a reliable namespace label, a dotted
    `table` or `dataset` supplies the namespace, and the catalog if it has one.
    """
    catalog, table = _first(labels, CATALOG), _first(labels, TABLE)
    key = next((name for name in NAMESPACE if labels.get(name)), None)
    namespace = labels[key] if key else None
    if table and "." in table and (namespace is None or key == _WEAK):
        before, _, table = table.rpartition(".")
        first, _, rest = before.partition(".")
        if catalog is None and rest:
            catalog, before = first, rest
        elif catalog is not None and first == catalog and rest:
            before = rest
        return NamedTable(catalog, before, table)
    return NamedTable(catalog, namespace, table, key == _WEAK)


def job_of(labels: Mapping[str, str]) -> str | None:
    """The job that labels name. Prometheus' own label `job` is never used."""
    return _first(labels, JOB)


def tables(labels: Mapping[str, str], known: Iterable[TableName]) -> list[TableName]:
    """Known tables that labels may refer to; empty if they name no table. A table that is named in full is returned
    even if it is unknown.
    """
    said = named(labels)
    if said.table is None:
        return []
    found = [name for name in known if _fits(said, name)]
    if not found and said.weak:
        found = [name for name in known if _fits(said._replace(namespace=None), name)]
    if not found and said.catalog and said.namespace and not said.weak:
        return [TableName.from_plain(said.catalog, said.namespace, said.table)]
    return sorted(found)


def _fits(said: NamedTable, name: TableName) -> bool:
    plain = name.plain
    return (
        said.table in {name.table, plain.table}
        and said.catalog in {None, name.catalog}
        and said.namespace in {None, name.namespace, plain.namespace}
    )


def _first(labels: Mapping[str, str], names: Iterable[str]) -> str | None:
    return next((labels[name] for name in names if labels.get(name)), None)
