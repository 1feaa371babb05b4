"""Up to which instant metadata is known: of the whole lake, and of a table whose catalog or metadata cannot be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from limnograph.domain.ids import TableName
from limnograph.services.lake import Lake

_PASSES_KEPT = 64


class NewestPasses:
    """The newest passes of the pipeline, and when each looked at the lake."""

    def __init__(self) -> None:
        self._passes: dict[str, int] = {}

    def remember(self, passes: Mapping[str, int]) -> None:
        """Passes by id; the earliest observation of each counts."""
        for run, at in passes.items():
            self._passes[run] = min(at, self._passes.get(run, at))
        newest = sorted(self._passes.items(), key=lambda entry: entry[1])[-_PASSES_KEPT:]
        self._passes = dict(newest)

    @property
    def observed_at(self) -> int | None:
        """When the newest pass looked at the lake: its earliest observation. Its later rows were read after that."""
        return max(self._passes.values(), default=None)


class KnownUntil:
    """What rounds of the watcher told. Written by one thread; each field is replaced whole."""

    def __init__(self) -> None:
        self._probed: dict[str, int] = {}
        self._behind: dict[str, int | None] = {}
        self._read: frozenset[str] | None = None

    def probed(self, at: int, read: Collection[str], failed: Collection[str]) -> None:
        """A round ended: tables of the catalogs `read` are known up to `at`, but for `failed` ones."""
        still = {name: known for name, known in self._behind.items() if _catalog(name) not in read}
        behind = {name: self._behind.get(name, self._probed.get(_catalog(name))) for name in failed}
        self._behind = {**still, **behind}
        self._probed = {**self._probed, **dict.fromkeys(read, at)}
        self._read = frozenset(read)

    def watermark(self, lake: Lake) -> int | None:
        """Of the lake (epoch microseconds): newest probe that read a catalog, or the time at which the newest pass
        looked at it; None when neither has happened.
        """
        return _newest(*self._probed.values(), lake.observed_at)

    def until(self, name: TableName, lake: Lake) -> int | None:
        """Of one table: older than that of the lake while its catalog or its metadata cannot be read.

        Then a pass that read other tables says nothing about this one; what counts are the table's own rows.
        """
        text = str(name)
        probed = self._behind[text] if text in self._behind else self._probed.get(name.catalog)
        if text not in self._behind and (self._read is None or name.catalog in self._read):
            return _newest(probed, lake.observed_at)
        table = lake.tables.get(lake.names.get(name, ""))
        return _newest(probed, table.seen.observed_at if table else None)


def _catalog(name: str) -> str:
    return name.split(".", 1)[0]


def _newest(*instants: int | None) -> int | None:
    return max((at for at in instants if at is not None), default=None)
