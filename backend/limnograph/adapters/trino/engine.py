"""QueryEngine over Trino's official client: few queries at once, each within one deadline, each really cancelled.

The version to read comes from the catalog through PyIceberg (a few milliseconds, where Trino plans for a hundred), and
every query is pinned to it: what Trino and the server's hot index answer is of one head.
"""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import polars as pl
import requests
import trino
from trino import exceptions

from limnograph.adapters.embedded import frames
from limnograph.adapters.trino import statement, values
from limnograph.adapters.trino.link import Link
from limnograph.adapters.trino.statement import Statement
from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.ports.query_engine import MetaHead, MetaQuery, Table
from limnograph.ports.stopping import STOP

MAX_BYTES = 256 * 1024 * 1024
COLUMNS_KEPT_S = 60.0
CANCEL_S = 2.0
_GONE = {"TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND"}
_TIMES = {"EXCEEDED_TIME_LIMIT", "EXCEEDED_CPU_LIMIT"}
_log = logging.getLogger("limnograph.trino")


class Pins(Protocol):
    """Versions of the meta tables, from their catalog."""

    def head(self) -> MetaHead:
        """As QueryEngine's."""
        ...

    def pin(self, table: Table) -> int | None:
        """Current snapshot of a table; None when there is no table, or nothing in it. Raises SourceError."""
        ...

    def properties(self, table: Table) -> Mapping[str, str]:
        """As QueryEngine's."""
        ...


class Coordinator(NamedTuple):
    """Where Trino is and who asks. `catalog`, `schema`: of the meta tables. A password or token needs https."""

    url: str
    catalog: str
    schema: str
    user: str = "limnograph"
    password: str = ""
    token: str = ""
    ca_file: str = ""
    timeout_s: float = 10.0
    concurrent: int = 4
    max_bytes: int = MAX_BYTES


class _Answer(NamedTuple):
    signatures: list[dict[str, Any]]
    rows: list[list[Any]]


class TrinoEngine:
    """Reads the meta tables through one coordinator; opens no connection before the first question."""

    name = "trino"

    def __init__(self, at: Coordinator, pins: Pins, now: Callable[[], float] = time.monotonic) -> None:
        self._at, self._pins, self._now = at, pins, now
        self._free = threading.BoundedSemaphore(at.concurrent)
        self._links: list[Link] = []
        self._columns: dict[Table, tuple[float, tuple[str, ...]]] = {}

    def head(self) -> MetaHead:
        """Versions that `select` would read now."""
        return self._pins.head()

    def properties(self, table: Table) -> Mapping[str, str]:
        """From the catalog too."""
        return self._pins.properties(table)

    def select(self, query: MetaQuery) -> pl.DataFrame:
        """Rows as the port says, of one snapshot of the table."""
        deadline = self._now() + self._at.timeout_s
        snapshot = self._pins.pin(query.table)
        if snapshot is None:
            return frames.empty(query)
        present = self._present(query.table, {column.name for column in frames.needed(query)}, deadline)
        wanted = tuple(column for column in frames.needed(query) if column.name in present)
        if not wanted:
            return frames.empty(query)
        place = (self._at.catalog, self._at.schema)
        question = statement.select(query, [column.name for column in wanted], place, snapshot)
        found = self._ask(question, deadline)
        if found is None:
            return frames.empty(query)
        return frames.answer(values.frame(found.rows, found.signatures, frames.needed(query)), query)

    def warm(self) -> None:
        """Make Trino load what a first question needs: a session, its plan of our tables. Raises SourceError."""
        for table in ("snapshots", "changes"):
            self.select(MetaQuery(table=table, columns=("table_uuid",), limit=1))

    def check(self) -> str:
        """Version of the server, once it has run a query in our catalog. Raises SourceError."""
        schemas = statement.quoted(self._at.catalog) + ".information_schema.schemata"
        sql = f"SELECT version(), count(*) FROM {schemas} WHERE schema_name = ?"  # noqa: S608  # our name, quoted
        found = self._ask(Statement(sql, [self._at.schema]), self._now() + self._at.timeout_s)
        if found is None or not found.rows:
            raise SourceRejected(self.name, "answered without rows")
        version, schemas_found = found.rows[0]
        if not schemas_found:
            raise SourceRejected(self.name, f"catalog {self._at.catalog!r} has no schema {self._at.schema!r}")
        return str(version)

    def _present(self, table: Table, wanted: set[str], deadline: float) -> set[str]:
        """Columns that the table has. Asked again, at most once a minute, when one is missing."""
        known = self._columns.get(table)
        if known is None or (wanted.difference(known[1]) and self._now() - known[0] > COLUMNS_KEPT_S):
            source = statement.quoted(self._at.catalog) + ".information_schema.columns"
            sql = f"SELECT column_name FROM {source} WHERE table_schema = ? AND table_name = ?"  # noqa: S608
            found = self._ask(Statement(sql, [self._at.schema, table]), deadline)
            names = tuple(row[0] for row in found.rows) if found else ()
            if not names:
                raise SourceRejected(
                    self.name,
                    f"its catalog {self._at.catalog!r} has no table {self._at.schema}.{table}, which the meta catalog "
                    "has; both must be the same catalog (docs/trino.md)",
                )
            known = self._columns[table] = (self._now(), names)
        return wanted.intersection(known[1])

    def _ask(self, question: Statement, deadline: float) -> _Answer | None:
        """All rows; None when the table is not there. Raises SourceError."""
        if not self._free.acquire(timeout=max(0.0, deadline - self._now())):
            raise SourceTimeout(self.name, f"{self._at.concurrent} other queries took the whole deadline")
        try:
            return self._asked(question, deadline)
        except exceptions.TrinoQueryError as error:
            if error.error_name in _GONE:
                return None
            raise self._failed(error) from error
        finally:
            self._free.release()

    def _asked(self, question: Statement, deadline: float) -> _Answer:
        link = self._links.pop() if self._links else self._new_link()
        link.begin()
        cursor = self._cursor(link, deadline)
        stop, stopped, late = STOP.get(), threading.Event(), threading.Event()

        def cut(why: threading.Event) -> None:
            why.set()
            link.abort()

        timer = threading.Timer(max(0.0, deadline - self._now()), cut, (late,))
        timer.daemon = True
        timer.start()
        try:
            with stop.calling(lambda: cut(stopped)) if stop else contextlib.nullcontext():
                return _run(cursor, question)
        except exceptions.TrinoQueryError:
            raise
        except Exception as error:
            # The client and what it stands on raise what they like on an answer that is not Trino's.
            self._cancel(cursor)
            if stopped.is_set():
                raise SourceUnavailable(self.name, "nobody waits for the answer any more") from error
            if late.is_set():
                raise SourceTimeout(self.name, f"no full answer within {self._at.timeout_s:g} s") from error
            raise link.refused or self._broken(error) from error
        finally:
            timer.cancel()
            if link.cut:
                link.close()
            else:
                self._links.append(link)

    def _new_link(self) -> Link:
        return Link(self.name, self._at.url, self._at.max_bytes, self._at.ca_file)

    def _cursor(self, link: Link, deadline: float) -> Any:
        seconds = max(0.1, deadline - self._now())
        auth: Any = None
        if self._at.token:
            auth = trino.auth.JWTAuthentication(self._at.token)
        elif self._at.password:
            auth = trino.auth.BasicAuthentication(self._at.user, self._at.password)
        try:
            connection = trino.dbapi.connect(  # type: ignore[no-untyped-call]
                host=self._at.url,
                user=self._at.user,
                source="limnograph",
                catalog=self._at.catalog,
                schema=self._at.schema,
                session_properties={
                    "query_max_execution_time": f"{seconds:.2f}s",
                    "query_max_run_time": f"{seconds:.2f}s",
                },
                auth=auth,
                max_attempts=1,
                request_timeout=seconds,
                http_session=link,
                timezone="UTC",
                legacy_primitive_types=True,
                legacy_prepared_statements=False,
            )
        except exceptions.Error as error:
            raise SourceRejected(self.name, str(error)) from error
        return connection.cursor()

    def _cancel(self, cursor: Any) -> None:
        """End the query on the server: in a thread of its own, since whoever asked does not wait for it."""
        query = cursor._query  # noqa: SLF001  # the cursor's own cancel() would go over the link that is cut
        address = query._next_uri if query else None  # noqa: SLF001
        if address is None:
            return
        threading.Thread(target=self._delete, args=(address,), daemon=True).start()

    def _delete(self, address: str) -> None:
        headers = {"X-Trino-User": self._at.user}
        auth = (self._at.user, self._at.password) if self._at.password and not self._at.token else None
        if self._at.token:
            headers["Authorization"] = f"Bearer {self._at.token}"
        try:
            with self._new_link() as link:
                link.delete(address, headers=headers, auth=auth, timeout=CANCEL_S)
        except (requests.RequestException, SourceError) as error:
            _log.warning("a query could not be cancelled; Trino ends it by its own time limit: %s", error)

    def _failed(self, error: exceptions.TrinoQueryError) -> SourceError:
        """What Trino itself says about a query that it took."""
        said = f"{error.error_name}: {str(error.message).splitlines()[0][:300]}"
        if error.error_name in _TIMES:
            return SourceTimeout(self.name, said)
        return (SourceRejected if error.error_type == "USER_ERROR" else SourceUnavailable)(self.name, said)

    def _broken(self, error: Exception) -> SourceError:
        """What the transport, or an answer that is not Trino's, is to us."""
        if isinstance(error, SourceError):
            return error
        if isinstance(error, requests.Timeout) or isinstance(error.__context__, requests.Timeout):
            return SourceTimeout(self.name, "no answer in time")
        status = re.match(r"error (\d{3})", str(error))
        if status:
            code = int(status[1])
            kind = SourceUnavailable if code == 429 or code >= 500 else SourceRejected
            return kind(self.name, f"answered {code}")
        if isinstance(error, exceptions.TrinoConnectionError | requests.RequestException):
            return SourceUnavailable(self.name, f"not reachable: {_plain(error)}")
        return SourceRejected(self.name, f"the answer is not Trino's ({type(error).__name__})")


def _run(cursor: Any, question: Statement) -> _Answer:
    cursor.execute(question.sql, question.parameters)
    rows = list(_rows(cursor))
    return _Answer(list(cursor._query.columns or ()), rows)  # noqa: SLF001  # `description` lacks nested types


def _rows(cursor: Any) -> Iterator[list[Any]]:
    while (row := cursor.fetchone()) is not None:
        yield row


def _plain(error: Exception) -> str:
    """The innermost cause, one line: outer ones repeat it with addresses of objects."""
    cause: BaseException = error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__ or cause
    return (str(cause).strip() or type(cause).__name__).splitlines()[0][:200]
