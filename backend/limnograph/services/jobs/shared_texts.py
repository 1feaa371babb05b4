"""Facets of runs in memory: equal texts are stored once, and their total length is limited. The owner locks."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from limnograph.domain.facts.events import RunFact, RunTable


class SharedTexts:
    """`most`: characters of all different texts. A text beyond it is only in the meta table. Guarded by the lock of
    RunRegistry.
    """

    def __init__(self, most: int) -> None:
        self._most, self._length = most, 0
        self._texts: dict[str, str] = {}

    def shared(self, run: RunFact) -> RunFact:
        """The run with its texts replaced by shared ones."""
        if not any(table.facets for table in run.tables or ()):
            return run
        return msgspec.structs.replace(run, tables=[self._of(table) for table in run.tables or ()])

    def keep(self, runs: Iterable[RunFact]) -> None:
        """Evict texts that none of these runs use."""
        self._texts = {table.facets: table.facets for run in runs for table in run.tables or () if table.facets}
        self._length = sum(map(len, self._texts))

    def _of(self, table: RunTable) -> RunTable:
        text = table.facets
        if text is None:
            return table
        if text not in self._texts:
            if self._length + len(text) > self._most:
                return msgspec.structs.replace(table, facets=None)
            self._texts[text] = text
            self._length += len(text)
        return msgspec.structs.replace(table, facets=self._texts[text])
