"""Runs queries on one Trino coordinator: few at once, each with a deadline, each cancelled on the server."""

from __future__ import annotations

import contextlib
import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import requests
import trino
from trino import exceptions

from limnograph.adapters.trino.link import TrinoLink
from limnograph.adapters.trino.statement import Statement
from limnograph.domain.errors import SourceError, SourceRejected, SourceTimeout, SourceUnavailable
from limnograph.ports.stopping import STOP

MAX_BYTES = 256 * 1024 * 1024
CANCEL_S = 2.0
_GONE = {"TABLE_NOT_FOUND", "SCHEMA_NOT_FOUND"}
_STARTING = {"NO_NODES_AVAILABLE", "SERVER_STARTING_UP"}
"""Trino responds some seconds before its workers have registered, and while the last one is replaced."""
AGAIN_S = 0.5
_TIMES = {"EXCEEDED_TIME_LIMIT", "EXCEEDED_CPU_LIMIT"}
_log = logging.getLogger("limnograph.trino")


class Coordinator(NamedTuple):
    """Address of Trino and the user of queries. `catalog`, `schema`: of the meta tables. A password or token requires
    https.
    """

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


class TrinoResult(NamedTuple):
    """Columns as Trino describes them, and rows as in the protocol."""

    signatures: list[dict[str, Any]]
    rows: list[list[Any]]


class TrinoClient:
    """Sends queries with the official client over links that can be cut; opens none before the first query. `now`:
    seconds. Thread-safe: a link belongs to one query at a time; idle ones are in `_links`, which changes only by single
    calls of `append` and `pop`.
    """

    def __init__(self, at: Coordinator, name: str, now: Callable[[], float]) -> None:
        self._at, self._name, self._now = at, name, now
        self._free = threading.BoundedSemaphore(at.concurrent)
        self._links: list[TrinoLink] = []

    def ask(self, question: Statement, deadline: float) -> TrinoResult | None:
        """All rows; None if the table does not exist. Raises SourceError."""
        if not self._free.acquire(timeout=max(0.0, deadline - self._now())):
            raise SourceTimeout(self._name, f"{self._at.concurrent} other queries used up the deadline")
        try:
            while (found := self._unless_starting(question, deadline)) is None:
                time.sleep(AGAIN_S)
        except exceptions.TrinoQueryError as error:
            if error.error_name in _GONE:
                return None
            raise self._failed(error) from error
        else:
            return found
        finally:
            self._free.release()

    def _unless_starting(self, question: Statement, deadline: float) -> TrinoResult | None:
        """None while no worker is available, the caller is waiting and there is time to retry."""
        try:
            return self._asked(question, deadline)
        except exceptions.TrinoQueryError as error:
            stop = STOP.get()
            late = self._now() + AGAIN_S >= deadline
            if error.error_name not in _STARTING or late or (stop and stop.is_set):
                raise
            return None

    def _asked(self, question: Statement, deadline: float) -> TrinoResult:
        link = self._idle_link()
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
            # The client and its dependencies raise any error for a response that is not Trino's.
            self._cancel(cursor)
            if stopped.is_set():
                raise SourceUnavailable(self._name, "the request was cancelled") from error
            if late.is_set():
                raise SourceTimeout(self._name, f"no complete response within {self._at.timeout_s:g} s") from error
            raise link.refused or self._broken(error) from error
        finally:
            timer.cancel()
            if link.cut:
                link.close()
            else:
                self._links.append(link)

    def _idle_link(self) -> TrinoLink:
        # Checking and then taking would be two steps, with a race between threads.
        try:
            return self._links.pop()
        except IndexError:
            return self._new_link()

    def _new_link(self) -> TrinoLink:
        return TrinoLink(self._name, self._at.url, self._at.max_bytes, self._at.ca_file)

    def _cursor(self, link: TrinoLink, deadline: float) -> Any:
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
            raise SourceRejected(self._name, str(error)) from error
        return connection.cursor()

    def _cancel(self, cursor: Any) -> None:
        """Cancel the query on the server: in a separate thread, since the caller does not wait for it."""
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
            _log.warning("a query could not be cancelled; Trino's own time limit ends it: %s", error)

    def _failed(self, error: exceptions.TrinoQueryError) -> SourceError:
        """The error that Trino reported for an accepted query."""
        said = f"{error.error_name}: {str(error.message).splitlines()[0][:300]}"
        if error.error_name in _TIMES:
            return SourceTimeout(self._name, said)
        return (SourceRejected if error.error_type == "USER_ERROR" else SourceUnavailable)(self._name, said)

    def _broken(self, error: Exception) -> SourceError:
        """Converts an error of the transport, or a response that is not Trino's."""
        if isinstance(error, SourceError):
            return error
        if isinstance(error, requests.Timeout) or isinstance(error.__context__, requests.Timeout):
            return SourceTimeout(self._name, "timed out")
        status = re.match(r"error (\d{3})", str(error))
        if status:
            code = int(status[1])
            kind = SourceUnavailable if code == 429 or code >= 500 else SourceRejected
            return kind(self._name, f"returned {code}")
        if isinstance(error, exceptions.TrinoConnectionError | requests.RequestException):
            return SourceUnavailable(self._name, f"not reachable: {_plain(error)}")
        return SourceRejected(self._name, f"the response is not from Trino ({type(error).__name__})")


def _run(cursor: Any, question: Statement) -> TrinoResult:
    cursor.execute(question.sql, question.parameters)
    rows = list(_rows(cursor))
    return TrinoResult(list(cursor._query.columns or ()), rows)  # noqa: SLF001  # `description` lacks nested types


def _rows(cursor: Any) -> Iterator[list[Any]]:
    while (row := cursor.fetchone()) is not None:
        yield row


def _plain(error: Exception) -> str:
    """The innermost cause, on one line: outer ones repeat it with addresses of objects."""
    cause: BaseException = error
    while cause.__cause__ or cause.__context__:
        cause = cause.__cause__ or cause.__context__ or cause
    return (str(cause).strip() or type(cause).__name__).splitlines()[0][:200]
