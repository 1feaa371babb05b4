"""Live files at a version: carried from the previous version, else from the nearest checkpoint or the first commit.

Whether a state can be computed depends on the log alone, never on the caches of this process.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from limnograph.adapters.delta.actions import DeltaFile, FileAction, read_files
from limnograph.adapters.delta.checkpoints import checkpoint_files
from limnograph.adapters.delta.files import LogFiles
from limnograph.adapters.delta.log import Checkpoint, Log
from limnograph.adapters.delta.replay import Moves, replay, visited
from limnograph.adapters.delta.state import DeltaLiveFiles
from limnograph.domain.errors import MetadataError
from limnograph.ports.storage import Storage

FILES_KEPT = 400_000
"""Maximum live files of all cached states together; the latest state is kept whatever its size."""
_TRIES = 10
"""Checkpoints to try until one is readable; the start of the table always is."""
_Start = Callable[[], DeltaLiveFiles]
_Bad = OrderedDict[Any, tuple[str, str]]
"""Code and detail of a file's damage."""


class _Held(NamedTuple):
    """A state, its version, and the last log file applied to it (None: the table before version 0)."""

    version: int
    made_from: Any
    live: DeltaLiveFiles


class StateCache:
    """One per process. The caller takes a state out, advances it and returns it with `keep`."""

    def __init__(self, files: LogFiles) -> None:
        self._files = files
        self._held: OrderedDict[str, _Held] = OrderedDict()
        self._bad: _Bad = OrderedDict()

    def at(self, log: Log, version: int, storage: Storage) -> DeltaLiveFiles:
        """State after a version. Raises MetadataError: `history_truncated` if the log has no path to the version,
        `history_damaged` or `too_many_files` if that path is unusable; SourceError.
        """
        bases: list[Checkpoint | None] = list(log.bases(version))
        if not bases:
            raise MetadataError("history_truncated", f"nothing in the log leads to version {version}")
        held = self._held.pop(log.root, None)
        nearest = [*bases[:_TRIES], *(base for base in bases[_TRIES:] if base is None)]
        starts: list[_Start] = [partial(self._from, log, base, version, storage) for base in nearest]
        if held and self._leads(log, held, version, bases[0]):
            starts.insert(0, partial(self._forward, log, held.version, version, held.live, storage))
        del held
        return _tried(starts)

    def checkpoint(self, log: Log, version: int, storage: Storage) -> DeltaLiveFiles:
        """State of a checkpoint of exactly this version. Raises MetadataError (`history_truncated`), SourceError."""
        exact = [checkpoint for checkpoint in log.checkpoints if checkpoint.version == version][:_TRIES]
        if not exact:
            raise MetadataError("history_truncated", f"no checkpoint of version {version}")
        return _tried([partial(self._from, log, base, version, storage) for base in exact])

    def keep(self, log: Log, version: int, live: DeltaLiveFiles) -> None:
        """Remember a state for the next version."""
        self._held[log.root] = _Held(version, _made_from(log, version), live)
        self._held.move_to_end(log.root)
        while len(self._held) > 1 and sum(len(held.live) for held in self._held.values()) > FILES_KEPT:
            self._held.popitem(last=False)

    def actions(self, log: Log, version: int, storage: Storage) -> list[FileAction]:
        """File actions of a commit. Raises MetadataError with the name of the file, SourceError."""
        content = self._files.commit(log, version, storage)
        try:
            return list(read_files(content))
        except MetadataError as error:
            raise MetadataError(error.code, f"{log.location(log.commits[version].name)}: {error.detail}") from error

    def seed(self, log: Log, live: DeltaLiveFiles, below: int, storage: Storage) -> None:
        """Record for partitions that no replayed version touched which version up to `below` did, latest first."""
        if live.seeded:
            return
        live.seeded = True
        wanted = {n for n, sums in enumerate(live.partitions) if sums.files and n not in live.touched}
        for version in (at for at in reversed(log.told) if at <= below):
            if not wanted:
                return
            try:
                actions = self.actions(log, version, storage)
            except MetadataError:
                continue  # reported as a problem of that version
            for values in visited(actions):
                number = live.number(values)
                if number in wanted:
                    live.touched[number] = version
                    wanted.discard(number)

    def _leads(self, log: Log, held: _Held, version: int, base: Checkpoint | None) -> bool:
        """Whether a cached state belongs to this log, is not past the version, and is not behind the base."""
        nearest = -1 if base is None else base.version
        if not nearest <= held.version <= version or held.made_from != _made_from(log, held.version):
            return False
        return held.version == version or log.runs.get(version, version + 1) <= held.version + 1

    def _from(self, log: Log, base: Checkpoint | None, version: int, storage: Storage) -> DeltaLiveFiles:
        self._make_room()
        live = DeltaLiveFiles()
        if base is None:
            live.seeded = True
            return self._forward(log, -1, version, live, storage)
        with _MarkedFiles(self._bad, (log.root, base.files)):
            for file in _checkpoint_files(log, base, storage):
                if file.key not in live:
                    live.put(file)
        return self._forward(log, base.version, version, live, storage)

    def _forward(self, log: Log, start: int, version: int, live: DeltaLiveFiles, storage: Storage) -> DeltaLiveFiles:
        """Apply the commits after `start`. Fails before the first one if any is known to be damaged."""
        steps = range(start + 1, version + 1)
        for step in steps:
            _check(self._bad, (log.root, log.commits[step]))
        for step in steps:
            with _MarkedFiles(self._bad, (log.root, log.commits[step])):
                moved(live, step, replay(self.actions(log, step, storage), live))
        return live

    def _make_room(self) -> None:
        """Evict large states before a large state is built."""
        if sum(len(held.live) for held in self._held.values()) > FILES_KEPT // 4:
            self._held.clear()


def moved(live: DeltaLiveFiles, version: int, moves: Moves) -> Moves:
    """Record which partitions a version touched."""
    for values in moves.visited:
        live.touched[live.number(values)] = version
    return moves


def _tried(starts: list[_Start]) -> DeltaLiveFiles:
    """The state from the first start that works."""
    problem = MetadataError("history_damaged", "")
    for start in starts:
        try:
            return start()
        except MetadataError as error:
            problem = error
    code = "too_many_files" if problem.code == "too_many_files" else "history_damaged"
    raise MetadataError(code, problem.detail) from problem


class _MarkedFiles:
    """Remembers damaged files, so that a long history after one does not read it again and again."""

    def __init__(self, bad: _Bad, key: Any) -> None:
        self._bad, self._key = bad, key

    def __enter__(self) -> None:
        _check(self._bad, self._key)

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MetadataError):
            self._bad[self._key] = (error.code, error.detail)
            while len(self._bad) > 1_000:
                self._bad.popitem(last=False)


def _check(bad: _Bad, key: Any) -> None:
    """Raise the recorded error of a file that is known to be damaged."""
    if key in bad:
        raise MetadataError(*bad[key])


def _checkpoint_files(log: Log, base: Checkpoint, storage: Storage) -> Iterator[DeltaFile]:
    """The same as `checkpoint_files`, but errors name the damaged file."""
    try:
        yield from checkpoint_files(log, base, storage)
    except MetadataError as error:
        raise MetadataError(error.code, f"{log.location(base.files[0].name)}: {error.detail}") from error


def _made_from(log: Log, version: int) -> Any:
    if version in log.commits:
        return log.commits[version]
    return next((checkpoint.files for checkpoint in log.checkpoints if checkpoint.version == version), None)
