"""Up to which instant metadata is known: for the lake, and for a table whose catalog or metadata cannot be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from limnograph.domain.ids import TableName
from limnograph.domain.time import Micros
from limnograph.services.lake.lake import Lake

_PASSES_KEPT = 64


class NewestPasses:
    """The newest passes of the pipeline, and when each read the lake. Guarded by the lock of the HotStore."""

    def __init__(self) -> None:
        self._passes: dict[str, Micros] = {}

    def remember(self, passes: Mapping[str, Micros]) -> None:
        """Add passes by id; the earliest observation of each counts."""
        for run, at in passes.items():
            self._passes[run] = min(at, self._passes.get(run, at))
        newest = sorted(self._passes.items(), key=lambda entry: entry[1])[-_PASSES_KEPT:]
        self._passes = dict(newest)

    @property
    def observed_at(self) -> Micros | None:
        """When the newest pass read the lake: its earliest observation. Its later rows were read after that."""
        return max(self._passes.values(), default=None)


class _Rounds(NamedTuple):
    """The rounds of the watcher so far; instants in microseconds.

    `probed`: newest probe of each catalog
    `behind`: tables that could not be read, and until when each is known
    `read`: catalogs of the newest round; None before the first
    """

    probed: Mapping[str, Micros] = {}
    behind: Mapping[str, Micros | None] = {}
    read: frozenset[str] | None = None


class Watermarks:
    """Up to when tables are known, from the rounds of the watcher. Thread-safe: one thread writes and replaces the
    whole immutable value; a reader takes it once.
    """

    def __init__(self) -> None:
        self._rounds = _Rounds()

    def probed(self, at: Micros, read: Collection[str], failed: Collection[str]) -> None:
        """A round ended: tables of the catalogs in `read` are known up to `at`, except for those in `failed`."""
        probed, before, _ = self._rounds
        still = {name: known for name, known in before.items() if _catalog(name) not in read}
        behind = {name: before.get(name, probed.get(_catalog(name))) for name in failed}
        self._rounds = _Rounds({**probed, **dict.fromkeys(read, at)}, {**still, **behind}, frozenset(read))

    def answered(self) -> dict[str, tuple[Micros, bool]]:
        """For each catalog that was ever read: when last (epoch microseconds), and whether in the newest round."""
        rounds = self._rounds
        read = rounds.read or frozenset()
        return {catalog: (at, catalog in read) for catalog, at in rounds.probed.items()}

    @property
    def watched(self) -> bool:
        """Whether any round has ended."""
        return self._rounds.read is not None

    def watermark(self, lake: Lake) -> Micros | None:
        """For the lake (epoch microseconds): the newest probe that read a catalog, or the time at which the newest pass
        read the lake; None if neither has happened.
        """
        return _newest(*self._rounds.probed.values(), lake.observed_at)

    def until(self, name: TableName, lake: Lake) -> Micros | None:
        """For one table: older than the lake's while its catalog or its metadata cannot be read.

        A pass that read other tables says nothing about this one, so the table's own rows count.
        """
        text, rounds = str(name), self._rounds
        probed = rounds.behind[text] if text in rounds.behind else rounds.probed.get(name.catalog)
        if text not in rounds.behind and (rounds.read is None or name.catalog in rounds.read):
            return _newest(probed, lake.observed_at)
        table = lake.tables.get(lake.names.get(name, ""))
        return _newest(probed, table.seen.observed_at if table else None)


def _catalog(name: str) -> str:
    return name.split(".", 1)[0]


def _newest(*instants: Micros | None) -> Micros | None:
    return max((at for at in instants if at is not None), default=None)
