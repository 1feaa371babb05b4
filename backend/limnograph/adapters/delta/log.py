"""Contents of a `_delta_log` folder: commits, complete checkpoints, checksums. Uses names and sizes, opens no file.

`_last_checkpoint` is never read: the listing has the same information, and is always current. Staged commits,
temporary and hidden files, and log compactions (which repeat commits) are ignored.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from limnograph.domain.errors import InvalidInput, MetadataError
from limnograph.domain.ids import normalise_location
from limnograph.ports.storage import ListedFile, Storage

FOLDER = "_delta_log"
MAX_VERSION = 2**63 - 1
MAX_VERSIONS = 10_000
"""Maximum versions of a log to read: the latest ones."""
_COMMIT = re.compile(r"^(\d{20})\.json$")
_CHECKSUM = re.compile(r"^(\d{20})\.crc$")
_CHECKPOINT = re.compile(
    r"^(\d{20})\.checkpoint(?:\.(?P<part>\d{10})\.(?P<parts>\d{10})\.parquet|\.parquet|\.[0-9A-Za-z-]+\.(?:parquet|json))$"
)
_POINTER = re.compile(rf"^(?P<root>.*)/{FOLDER}/(?P<name>[^/]+)$", re.DOTALL)
_MAX_PARTS = 10_000


class Checkpoint(NamedTuple):
    """A complete checkpoint: one file, or all parts of a multi-part one in order."""

    version: int
    files: tuple[ListedFile, ...]


class Log(NamedTuple):
    """Files of one log up to a version.

    checkpoints  latest first; for one version, single files before multi-part ones
    runs         by version: the first version of the unbroken run of commits that contains it
    """

    root: str
    version: int
    commits: dict[int, ListedFile]
    checkpoints: tuple[Checkpoint, ...]
    checksums: dict[int, ListedFile]
    runs: dict[int, int]

    @property
    def told(self) -> list[int]:
        """Versions to read, oldest first."""
        return list(self.commits)[-MAX_VERSIONS:]

    def location(self, name: str) -> str:
        """Location of a file of the log."""
        return f"{self.root}/{FOLDER}/{name}"

    def bases(self, version: int) -> Iterator[Checkpoint | None]:
        """Checkpoints that a replay to `version` may start from, nearest first; None: the table before version 0.

        Skips those with a missing commit between them and the version.
        """
        first = self.runs.get(version, version + 1) - 1
        for checkpoint in self.checkpoints:
            if first <= checkpoint.version <= version:
                yield checkpoint
        if first < 0:
            yield None


def newest_version(location: str, storage: Storage) -> str:
    """Pointer of the table: its latest commit file, or the latest checkpoint if that commit is gone.

    `location` is the table's folder, or a file of its log. Raises InvalidInput if there is no log, MetadataError and
    SourceError as storage does.
    """
    pointer = _POINTER.match(location)
    if pointer and version_of(pointer["name"]) is not None:
        return location
    root = table_root(location)
    newest: tuple[int, bool, str] | None = None
    for file in storage.list(f"{root}/{FOLDER}"):
        version = version_of(file.name)
        if version is not None:
            newest = max(newest or (-1, False, ""), (version, _COMMIT.match(file.name) is not None, file.name))
    if newest is None:
        raise InvalidInput(
            "LOCATION", f"{location} is not a Delta table: it has no {FOLDER} with a commit or checkpoint"
        )
    return f"{root}/{FOLDER}/{newest[2]}"


def table_root(location: str) -> str:
    """Folder of the table, from its own location, its log's folder or a file of the log."""
    pointer = _POINTER.match(location)
    return pointer["root"] if pointer else location.rstrip("/").removesuffix(f"/{FOLDER}")


def version_of(name: str) -> int | None:
    """Version of a commit or checkpoint file; None for any other file."""
    match = _COMMIT.match(name) or _CHECKPOINT.match(name)
    return int(match[1]) if match and int(match[1]) <= MAX_VERSION else None


def open_log(pointer: str, storage: Storage) -> Log:
    """The log up to the pointer's version. Raises MetadataError (`not_a_table`, `file_missing`), SourceError."""
    match = _POINTER.match(pointer)
    version = version_of(match["name"]) if match else None
    if match is None or version is None:
        raise MetadataError("not_a_table", f"{pointer} is not a file of a Delta log")
    log = _sorted(normalise_location(match["root"]), version, storage.list(f"{match['root']}/{FOLDER}"))
    if version not in log.commits and not any(checkpoint.version == version for checkpoint in log.checkpoints):
        raise MetadataError("file_missing", f"{pointer} does not exist")
    return log


def _sorted(root: str, version: int, files: list[ListedFile]) -> Log:
    commits: dict[int, ListedFile] = {}
    checksums: dict[int, ListedFile] = {}
    single: list[Checkpoint] = []
    parts: dict[tuple[int, int], dict[int, ListedFile]] = defaultdict(dict)
    for file in files:
        if match := _COMMIT.match(file.name):
            commits[int(match[1])] = file
        elif match := _CHECKSUM.match(file.name):
            checksums[int(match[1])] = file
        elif match := _CHECKPOINT.match(file.name):
            if match["part"] is None:
                single.append(Checkpoint(int(match[1]), (file,)))
            else:
                parts[int(match[1]), int(match["parts"])][int(match["part"])] = file
    complete = [
        Checkpoint(at, tuple(found[part] for part in sorted(found)))
        for (at, count), found in sorted(parts.items())
        if count <= _MAX_PARTS and set(found) == set(range(1, count + 1))
    ]
    usable = [checkpoint for checkpoint in [*single, *complete] if checkpoint.version <= version]
    held = {at: commits[at] for at in sorted(commits) if at <= version}
    runs: dict[int, int] = {}
    for at in held:
        runs[at] = runs.get(at - 1, at)
    return Log(
        root=root,
        version=version,
        commits=held,
        checkpoints=tuple(sorted(usable, key=lambda checkpoint: -checkpoint.version)),
        checksums=checksums,
        runs=runs,
    )
