"""A process that performs one call of deltalake and ends. It reads the call as a line of JSON from standard input, and
writes the result as a line to standard output: `python -m limnograph.adapters.delta.maintenance.worker`.

The library has no way to cancel a call: its process is killed. It also ends when its parent does, before it commits.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    from deltalake import DeltaTable

_PR_SET_PDEATHSIG = 1
UNSAFE = ("AWS_S3_ALLOW_UNSAFE_RENAME", "AWS_CONDITIONAL_PUT")
"""Variables of the environment that would weaken commits. The options of the store decide."""
Problem = Literal["conflict", "missing", "protocol", "rejected", "store"]


class DeltaCall(msgspec.Struct, frozen=True, kw_only=True):
    """One call.

    version   at which the table is read and the action is planned; None: the latest
    stamp     key and value of each commit
    filters   one partition as conditions of deltalake; None: the whole table
    """

    do: Literal["compact", "z_order", "vacuum", "count"]
    uri: str
    version: int | None = None
    options: dict[str, str] = {}
    stamp: dict[str, str] = {}
    filters: list[tuple[str, str, str]] | None = None
    target_bytes: int | None = None
    retention_hours: int | None = None
    where: str | None = None


class DeltaResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result. `problem`: None if the call succeeded."""

    problem: Problem | None = None
    text: str = ""
    files_in: int = 0
    files_out: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    deleted: int = 0
    rows: int = 0


def performed(call: DeltaCall) -> DeltaResult:
    """Perform the call; an error of the library is a result."""
    from deltalake import exceptions

    try:
        return _perform(call)
    except exceptions.CommitFailedError as error:
        return DeltaResult(problem="conflict", text=str(error))
    except exceptions.TableNotFoundError as error:
        return DeltaResult(problem="missing", text=str(error))
    except exceptions.DeltaProtocolError as error:
        return DeltaResult(problem="protocol", text=str(error))
    except OSError as error:
        return DeltaResult(problem="store", text=str(error))
    except Exception as error:  # noqa: BLE001 - the library's errors have no common class
        return DeltaResult(problem="rejected", text=str(error))


def _perform(call: DeltaCall) -> DeltaResult:
    from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, QueryBuilder

    table = DeltaTable(call.uri, version=call.version, storage_options=call.options or None)
    if call.do == "count":
        # The condition is one that this program wrote, and the query can only read the table.
        query = "select count(*) as n from t" + (f" where {call.where}" if call.where else "")  # noqa: S608
        found: Any = QueryBuilder().register("t", table).execute(query).read_all()
        return DeltaResult(rows=int(found["n"][0].as_py()))
    # Checkpoints and the deletion of old log files are not part of the plan.
    common: Any = {
        "commit_properties": CommitProperties(custom_metadata=call.stamp),
        "post_commithook_properties": PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False),
    }
    if call.do == "vacuum":
        gone = table.vacuum(
            retention_hours=call.retention_hours, dry_run=False, enforce_retention_duration=True, full=False, **common
        )
        return DeltaResult(deleted=len(gone))
    chosen: Any = {"partition_filters": call.filters, "target_size": call.target_bytes}
    if call.do == "z_order":
        return _rewritten(table.optimize.z_order(_sorting(table), **chosen, **common))
    return _rewritten(table.optimize.compact(**chosen, **common))


def _sorting(table: DeltaTable) -> list[str]:
    """The first column whose values can be compared: a rewrite of all files has to name one."""
    from deltalake.schema import PrimitiveType

    partitions: Sequence[str] = table.metadata().partition_columns
    for field in table.schema().fields:
        if isinstance(field.type, PrimitiveType) and field.name not in partitions:
            return [field.name]
    raise ValueError("the table has no column by which deltalake could rewrite its files")


def _rewritten(metrics: dict[str, Any]) -> DeltaResult:
    return DeltaResult(
        files_in=int(metrics["numFilesRemoved"]),
        files_out=int(metrics["numFilesAdded"]),
        bytes_in=_bytes(metrics["filesRemoved"]),
        bytes_out=_bytes(metrics["filesAdded"]),
    )


def _bytes(sums: Any) -> int:
    """Metrics are JSON in JSON."""
    return int((msgspec.json.decode(sums) if isinstance(sums, str) else sums)["totalSize"])


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the group; the parent decides
    threading.Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    """End of input means that the parent is gone."""
    while sys.stdin.buffer.read(1):
        pass
    os._exit(1)


def main() -> None:
    """Perform the call on standard input."""
    call = msgspec.json.decode(sys.stdin.buffer.readline(), type=DeltaCall)
    _end_with_parent()
    result = performed(call)
    sys.stdout.buffer.write(msgspec.json.encode(result) + b"\n")
    sys.stdout.buffer.flush()
    os._exit(0)  # a thread of the library may still run


if __name__ == "__main__":
    main()
