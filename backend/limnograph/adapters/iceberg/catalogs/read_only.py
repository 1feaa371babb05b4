"""An SQL catalog opened for reading only: opening it creates no database, table or column.

PyIceberg's own class creates its tables when opened, and SQLite creates the file: a mistyped path would become a new,
empty catalog.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

import sqlalchemy as sa
from pyiceberg.catalog import URI
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import OperationalError, ProgrammingError

_TABLES = "iceberg_tables"
_IN_MEMORY = frozenset({"", ":memory:"})
_SQL = re.compile(r"(sqlite|postgres(ql)?)(\+\w+)?:")


def is_sql(properties: dict[str, str]) -> bool:
    """Whether PyIceberg would open its SQL catalog for these properties."""
    given = properties.get("type", "").lower()
    return given == "sql" or (not given and bool(_SQL.match(properties.get(URI, ""))))


def read_only_url(uri: str) -> str:
    """The URL of a database that is never written: SQLite opens its file with `mode=ro`, which does not create it.
    Other URLs are unchanged. Raises ArgumentError.
    """
    url = make_url(uri)
    if url.get_backend_name() != "sqlite" or (url.database or "") in _IN_MEMORY:
        return uri
    database = str(url.database)
    if not database.startswith("file:"):
        database = f"file:{quote(database)}"
    found: URL = url.set(database=database).update_query_dict({"mode": "ro", "uri": "true"})
    return found.render_as_string(hide_password=False)


class ReadOnlySql(SqlCatalog):
    """PyIceberg's SQL catalog. If its database or tables do not exist yet, it is empty; they may be created later."""

    def __init__(self, name: str, **properties: Any) -> None:
        self._seen = False
        super().__init__(name, **{**properties, URI: read_only_url(str(properties.get(URI) or ""))})

    def _init_catalog(self) -> None:
        """Detect the columns of its tables; if there are no tables yet, assume those of a new catalog."""
        self._schema_version = "v1"
        if self.missing() is not None:
            return
        columns = {str(column["name"]) for column in sa.inspect(self.engine).get_columns(_TABLES)}
        self._seen, self._schema_version = True, "v1" if "iceberg_type" in columns else "v0"

    def create_tables(self) -> None:
        raise PermissionError(f"catalog {self.name} is read-only")

    def load_table(self, identifier: Any) -> Table:
        """The same as PyIceberg's. Also raises NoSuchTableError if the catalog does not exist yet."""
        if not self._seen:
            self._init_catalog()
        try:
            return super().load_table(identifier)
        except (OperationalError, ProgrammingError) as error:
            if self.missing() is None:
                raise
            raise NoSuchTableError(f"Table does not exist: {identifier}") from error

    def missing(self) -> str | None:
        """What the catalog lacks, as a sentence; None if it is complete. Raises what the driver raises."""
        file = self._file()
        if file is not None and not file.exists():
            return f"database {file} does not exist; check catalogs.{self.name}.uri"
        if not sa.inspect(self.engine).has_table(_TABLES):
            where = "" if file is None else f" {file}"
            return (
                f"the database{where} has no table {_TABLES}, so it is not an Iceberg catalog; check "
                f"catalogs.{self.name}.uri"
            )
        return None

    def _file(self) -> Path | None:
        """The file of a SQLite database, from the settings."""
        url = self.engine.url
        if url.get_backend_name() != "sqlite" or (url.database or "") in _IN_MEMORY:
            return None
        return Path(unquote(urlsplit(str(url.database)).path))
