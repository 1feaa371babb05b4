"""Statistics of columns in the data files that a snapshot added, from the manifests that the same snapshot added."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from limnograph.adapters.avro.kernel import DECIMAL, FLOATING, INTEGER, NO_KIND, TEXT
from limnograph.adapters.avro.keyed import MAX_KEY, Extreme, KeyedTotals, KeyTotals
from limnograph.adapters.iceberg.manifests.bounds import INTEGERS
from limnograph.domain.facts.column_stats import ColumnStat
from limnograph.domain.metadata.content import WantedColumn
from limnograph.domain.metadata.manifests import ManifestFile

MOST_MANIFESTS = 512
"""Manifests of one snapshot beyond which statistics of columns are not known: they may have to be read again."""
MOST_TEXT = 64
"""Characters of a bound that are kept; Iceberg itself cuts texts after 16 by default."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = date(1970, 1, 1)


class ColumnTotals:
    """Totals per manifest of the wanted columns. Thread-safe for one caller per manifest."""

    def __init__(self, columns: Sequence[WantedColumn], snapshot_id: int) -> None:
        self._columns = [column for column in columns if 0 <= column.field_id <= MAX_KEY]
        self._kinds = {column.field_id: _kind(column) for column in self._columns}
        self._snapshot_id = snapshot_id
        self._found: dict[str, tuple[KeyedTotals, int]] = {}

    def begin(self, manifest: ManifestFile) -> KeyedTotals | None:
        """Empty totals for a manifest that may hold files of the snapshot; None for others."""
        own = manifest.added_snapshot_id == self._snapshot_id and not manifest.deletes
        return KeyedTotals(self._kinds) if own and self._kinds else None

    def put(self, manifest: ManifestFile, totals: KeyedTotals, added: int) -> None:
        """Take the totals of a manifest and the number of files in it that the snapshot added."""
        self._found[manifest.path] = totals, added

    def missing(self, manifests: Iterable[ManifestFile]) -> list[ManifestFile]:
        """Manifests that add files of the snapshot and were not read yet."""
        own = (each for each in manifests if each.added_snapshot_id == self._snapshot_id and not each.deletes)
        return [each for each in own if each.added_files != 0 and each.path not in self._found]

    def stats(self) -> list[ColumnStat] | None:
        """One entry for each column of which the files state anything; None if there are no added files."""
        added = sum(files for _, files in self._found.values())
        if not added:
            return None
        read = [totals for totals, files in self._found.values() if files]
        found = (_stat(column, [totals.of(column.field_id) for totals in read], added) for column in self._columns)
        return [stat for stat in found if any(value is not None for value in (stat.values, stat.nulls, stat.lower))]


def _kind(column: WantedColumn) -> int:
    name = _base(column.type)
    if not column.bounded:
        return NO_KIND
    if name in INTEGERS:
        return INTEGER
    return {"float": FLOATING, "double": FLOATING, "decimal": DECIMAL}.get(name, TEXT)


def _base(kind: str) -> str:
    return kind.partition("(")[0].partition("[")[0].strip()


def _stat(column: WantedColumn, parts: Sequence[KeyTotals], added: int) -> ColumnStat:
    def known(measure: int) -> int | None:
        complete = sum(part.records[measure] for part in parts) == added
        return sum(part.sums[measure] for part in parts) if complete else None

    empty = sum(part.all_of_first for part in parts)
    show = _shown(column.type)
    bounds: list[str | None] = []
    for end, better in ((0, min), (1, max)):
        values = [value for part in parts if (value := (part.least, part.greatest)[end]) is not None]
        whole = all(part.bounded[end] >= 0 for part in parts)
        covered = whole and sum(part.bounded[end] for part in parts) + empty == added
        bounds.append(show(better(values)) if values and covered else None)
    return ColumnStat(
        id=column.field_id,
        name=column.name,
        type=column.type,
        values=known(0),
        nulls=known(1),
        nans=known(2),
        lower=bounds[0],
        upper=bounds[1],
    )


def _shown(kind: str) -> Callable[[Extreme], str | None]:
    """A bound as text; None for an instant that no calendar has."""
    name = _base(kind)

    def show(value: Extreme) -> str | None:
        try:
            return _text(name, kind, value)
        except (OverflowError, ValueError, ArithmeticError):
            return None

    return show


def _text(name: str, kind: str, value: Extreme) -> str:
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace") if name == "string" else value[:MOST_TEXT].hex()
        return text[:MOST_TEXT]
    if isinstance(value, float):
        return repr(value)
    if name == "decimal":
        scale = int(kind.partition(",")[2].strip(" )") or 0)
        return str(Decimal(value).scaleb(-scale))
    if name == "date":
        return (_FIRST_DAY + timedelta(days=value)).isoformat()
    if name.startswith("timestamp"):
        micros = value // 1000 if name.endswith("_ns") else value
        return (_EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")
    return str(value)
