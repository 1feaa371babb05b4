"""Opens any catalog that PyIceberg supports, by its property names, and picks the cheapest way to list and probe it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from json import JSONDecodeError
from typing import Any

from pydantic import ValidationError
from pyiceberg.catalog import Catalog as PyIceberg
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchPropertyException, NotInstalledError
from pyiceberg.utils.config import Config
from sqlalchemy.exc import ArgumentError

from limnograph.adapters.iceberg.catalogs.errors import first_line, unavailable
from limnograph.adapters.iceberg.catalogs.metastores import AnyNames, GlueNames, HiveNames
from limnograph.adapters.iceberg.catalogs.read_only import ReadOnlySql, is_sql
from limnograph.adapters.iceberg.catalogs.sql import SqlNames
from limnograph.domain.errors import SettingsError, SourceUnavailable
from limnograph.ports.catalog import Catalog

_WRONG_SETTINGS = (
    *(ValueError, TypeError, KeyError, ImportError),
    *(NoSuchPropertyException, NotInstalledError, ArgumentError),
)
"""Errors of PyIceberg and its drivers for properties of a wrong type, a malformed URI or a missing driver."""
_NESTED = ("ssl", "auth")
"""Properties that PyIceberg expects as nested tables; the settings use dotted keys."""
_CONNECT_S = "10"
_IMPLEMENTATION = "py-catalog-impl"
_REST = "limnograph.adapters.iceberg.catalogs.rest.BoundedRest"
"""By name: importing its HTTP client takes a third of a second, and other catalogs do not need it."""


def open_catalog(name: str, properties: Mapping[str, str], *, write: bool = False) -> PyIceberg:
    """PyIceberg catalog from its settings. Without `write`, an SQL catalog is opened read-only and never created.

    Raises SettingsError, SourceUnavailable, SourceTimeout.
    """
    try:
        with warnings.catch_warnings():
            # PyIceberg's own deprecation warnings, for settings that users still need.
            warnings.simplefilter("ignore", DeprecationWarning)
            return load_catalog(name, **_nested(_bounded(name, properties, write=write)))
    except NotInstalledError as error:
        raise SettingsError(f"catalogs.{name}.type", first_line(error)) from error
    except (ValidationError, JSONDecodeError) as error:
        said = f"the response is not from an Iceberg catalog; check catalogs.{name}.uri ({first_line(error)})"
        raise SourceUnavailable(f"catalog {name}", said) from error
    except _WRONG_SETTINGS as error:
        raise SettingsError(f"catalogs.{name}", first_line(error)) from error
    except Exception as error:
        # Databases, REST servers and transports raise errors of any type: all mean that the catalog is unavailable now.
        raise unavailable(name, error) from error


def observed_catalog(name: str, properties: Mapping[str, str]) -> Catalog:
    """Port Catalog over a catalog of the settings. Raises the same as `open_catalog`."""
    return names_of(open_catalog(name, properties))


def names_of(catalog: PyIceberg) -> Catalog:
    """Port Catalog over an open catalog."""
    if isinstance(catalog, SqlCatalog):
        return SqlNames(catalog)
    # By name: their modules need packages that are not installed, or not loaded, unless such a catalog is used.
    kinds = {kind.__name__ for kind in type(catalog).__mro__}
    if "RestCatalog" in kinds:
        from limnograph.adapters.iceberg.catalogs.rest import RestNames

        return RestNames(catalog)  # type: ignore[arg-type]
    if "HiveCatalog" in kinds:
        return HiveNames(catalog)
    return GlueNames(catalog) if "GlueCatalog" in kinds else AnyNames(catalog)


def _bounded(name: str, properties: Mapping[str, str], *, write: bool) -> dict[str, str]:
    """The properties with timeouts for a REST server or a PostgreSQL that accepts connections without responding, and
    with read-only access unless `write`.
    """
    found, uri = dict(properties), properties.get("uri", "")
    # PyIceberg's own file and variables may add to the settings; a custom implementation would not receive those.
    elsewhere = Config().get_catalog_config(name)
    rest = found.get("type", "rest" if uri.startswith("http") else "") == "rest"
    if rest and not elsewhere and _IMPLEMENTATION not in found:
        found.pop("type", None)
        found[_IMPLEMENTATION] = _REST
    if uri.startswith("postgresql+psycopg2:") and "connect_timeout" not in uri and "host=" not in uri:
        found["uri"] = f"{uri}{'&' if '?' in uri else '?'}connect_timeout={_CONNECT_S}"
    whole = {**{key: value for key, value in (elsewhere or {}).items() if isinstance(value, str)}, **found}
    if not write and is_sql(whole) and _IMPLEMENTATION not in whole:
        found = {key: value for key, value in whole.items() if key != "type"}
        found[_IMPLEMENTATION] = f"{ReadOnlySql.__module__}.{ReadOnlySql.__name__}"
    return found


def _nested(properties: Mapping[str, str]) -> dict[str, Any]:
    """`ssl.client.cert` -> `{"ssl": {"client": {"cert": …}}}`; all other names stay as they are."""
    found: dict[str, Any] = {}
    for key, value in properties.items():
        first, *levels = key.split(".")
        if first not in _NESTED or not levels:
            found[key] = value
            continue
        inner = found.setdefault(first, {})
        for level in levels[:-1]:
            inner = inner.setdefault(level, {})
        inner[levels[-1]] = value
    return found
