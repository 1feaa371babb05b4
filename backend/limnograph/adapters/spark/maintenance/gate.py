"""What stands between an action and the table while it runs: failpoints at each commit, and a user who cancels.

Iceberg commits through TableOperations; the action gets a table whose operations pass this gate (LakeTools.java), so
that failpoints are exact and nothing is committed after a cancellation.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from limnograph.domain.errors import ActionCancelled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OUTPUTS, COMMITTED, DELETED = "maintain.outputs-written", "maintain.committed", "maintain.files-deleted"
POLL_S = 1.0
AGAIN_S = 0.2
"""Seconds between two cancellations: with partial progress, each ends one file group and the next one starts."""
_log = logging.getLogger("limnograph.maintain")


class ActionGate:
    """Failpoints and cancellation of one action. Thread-safe: `_ended` is an event, the rest is guarded by `_lock`, so
    that of two groups that finish together one passes its failpoint at a time.

    error   what a failpoint raised
    tried, passed  commits that began, and those that succeeded
    """

    class Java:
        """Callable from Java."""

        implements: ClassVar = ["java.util.function.Predicate"]

    def __init__(self, reached: Callable[[str], None], cancelled: Callable[[], bool], *, writes: bool) -> None:
        self._reached, self._cancelled, self._writes = reached, cancelled, writes
        self._ended, self._lock = threading.Event(), threading.RLock()
        self.error: BaseException | None = None
        self.tried = self.passed = 0

    @property
    def cancelled(self) -> bool:
        """Whether the user cancelled the action."""
        return self._ended.is_set()

    def test(self, phase: str) -> bool:
        """Called by the JVM before and after a commit; before: whether it may be made. An exception is kept: raised
        into Java, it would look like a failed commit.
        """
        try:
            with self._lock:
                return self._after() if phase == "after" else self._before()
        except BaseException as error:  # noqa: BLE001 - raised by `check`
            self.error = self.error or error
            self._ended.set()
            return False

    def _before(self) -> bool:
        self.tried += 1
        if self._writes:
            self._reached(OUTPUTS)
        return not self.ask()

    def _after(self) -> bool:
        self.passed += 1
        self._reached(COMMITTED)
        return True

    def ask(self) -> bool:
        """Whether the action must end; asks the user's decision."""
        if not self._ended.is_set() and self._cancelled():
            self._ended.set()
        return self._ended.is_set()

    def reach(self, name: str) -> None:
        """Pass a failpoint outside a commit."""
        self._reached(name)

    def check(self) -> None:
        """Raises what a failpoint raised, or ActionCancelled."""
        if self.error is not None:
            raise self.error
        if self._ended.is_set():
            raise ActionCancelled("the action was cancelled")


@contextmanager
def watched(session: SparkSession, tag: str, gate: ActionGate) -> Iterator[None]:
    """Tag the Spark jobs that this thread starts, and cancel them, until none is left, once the user cancels."""
    context, done = session.sparkContext, threading.Event()

    def watch() -> None:
        while not done.wait(POLL_S):
            try:
                ended = gate.ask()
            except Exception as error:  # noqa: BLE001 - whoever cannot be asked may have cancelled
                gate.error = gate.error or error
                ended = True
            if ended:
                break
        while not done.wait(AGAIN_S):
            context.cancelJobsWithTag(tag)

    context.addJobTag(tag)
    watcher = threading.Thread(target=watch, name=f"cancel-{tag}", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
        context.removeJobTag(tag)
