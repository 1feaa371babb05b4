"""Which engines cannot read which features of tables: a short list, each row with the source that says so.

Only refusals are listed. An engine or a version that is not, or whose version is unknown, is not judged.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

TableFeature = Literal["format version 3", "deletion vectors", "equality deletes"]


class Refusal(NamedTuple):
    """`readable_from`: first version that reads the feature; None: none up to `checked`, the newest version for which
    this is known. `source`: where it says so.
    """

    engine: str
    feature: TableFeature
    readable_from: str | None
    checked: str
    source: str


REFUSALS: tuple[Refusal, ...] = (
    Refusal("trino", "format version 3", "480", "480", "https://github.com/trinodb/trino/pull/27786"),
    Refusal("trino", "deletion vectors", "480", "480", "https://github.com/trinodb/trino/pull/27788"),
    Refusal("pyiceberg", "equality deletes", None, "0.12", "https://github.com/apache/iceberg-python/issues/3270"),
    Refusal("duckdb", "equality deletes", "1.3", "1.3", "https://github.com/duckdb/duckdb-iceberg/issues/158"),
)
_NUMBERS = re.compile(r"\d+")


class TableFeatures(NamedTuple):
    """What a table needs of its readers. `vectors`, `equality_deletes`: live ones; None: unknown."""

    format: str
    format_version: int | None
    vectors: int | None = None
    equality_deletes: int | None = None

    @property
    def needed(self) -> tuple[TableFeature, ...]:
        """Features in use, the newest first."""
        if self.format != "iceberg":
            return ()
        found: list[TableFeature] = []
        is_new = self.format_version is not None and self.format_version > _SECOND
        if is_new and (self.vectors or 0) > 0:
            found.append("deletion vectors")
        if is_new:
            found.append("format version 3")
        if (self.equality_deletes or 0) > 0:
            found.append("equality deletes")
        return tuple(found)


_SECOND = 2


def refusal(engine: str, version: str | None, features: TableFeatures) -> Refusal | None:
    """Why an engine cannot read a table; None if it can, or if that is not known."""
    own = _parts(version)
    for feature in features.needed:
        for row in REFUSALS:
            if row.engine == engine.lower() and row.feature == feature and own and own < _edge(row):
                return row
    return None


def _edge(row: Refusal) -> tuple[int, ...]:
    """The first version that is not known to refuse."""
    if row.readable_from is not None:
        return _parts(row.readable_from)
    *head, last = _parts(row.checked)
    return (*head, last + 1)


def _parts(version: str | None) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBERS.findall((version or "").split("-")[0])[:3])
