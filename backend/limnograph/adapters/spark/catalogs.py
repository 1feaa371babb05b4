"""Spark's form of a catalog that is described by PyIceberg's property names. Text in, text out."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from limnograph.domain.errors import SettingsError

_DRIVERS = {"sqlite": "jdbc:sqlite:file:", "postgresql": "jdbc:postgresql://"}
_SPARKS_OWN = ("s3.", "adls.", "gcs.", "io-impl", "header.", "rest.", "oauth2", "credential", "token", "scope")


def spark_catalog(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    """`spark.sql.catalog.<name>*` entries. Raises SettingsError for a catalog that Spark cannot open."""
    kind = properties.get("type", "rest" if properties.get("uri", "").startswith("http") else "sql")
    if kind == "sql":
        own = _sql(name, properties)
    elif kind in {"rest", "hive", "hadoop", "glue"}:
        own = {"type": kind} | {k: v for k, v in properties.items() if k in {"uri", "warehouse"}}
    else:
        raise SettingsError(
            f"catalogs.{name}.type", f"{kind!r} has no form in Spark; use sql, rest, hive, hadoop or glue"
        )
    passed = {key: value for key, value in properties.items() if key.startswith(_SPARKS_OWN)}
    own = {**passed, **own, "cache-enabled": "false"}
    prefix = f"spark.sql.catalog.{name}"
    return {prefix: "org.apache.iceberg.spark.SparkCatalog", **{f"{prefix}.{k}": v for k, v in own.items()}}


def _sql(name: str, properties: Mapping[str, str]) -> dict[str, str]:
    try:
        url = make_url(properties.get("uri", ""))
    except ArgumentError as error:
        raise SettingsError(
            f"catalogs.{name}.uri", "is not a database URL: sqlite:////… or postgresql+psycopg2://…"
        ) from error
    dialect = url.get_backend_name()
    found = {"type": "jdbc", "jdbc.schema-version": "V1"}
    if warehouse := properties.get("warehouse"):
        found["warehouse"] = warehouse
    if dialect == "sqlite" and url.database:
        return {**found, "uri": f"{_DRIVERS['sqlite']}{url.database}"}
    if dialect == "postgresql":
        place = f"{url.host or '127.0.0.1'}:{url.port or 5432}/{url.database or ''}"
        options = f"?{urlencode(url.query, doseq=True)}" if url.query else ""
        found["uri"] = f"{_DRIVERS['postgresql']}{place}{options}"
        found |= {"jdbc.user": url.username} if url.username else {}
        found |= {"jdbc.password": str(url.password)} if url.password else {}
        return found
    raise SettingsError(f"catalogs.{name}.uri", f"{dialect} is not supported; use sqlite or postgresql")
