"""Who is responsible for a finding and a table: a note of kind `owner`, else the table property `owner`, else the
settings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from limnograph.domain.ids import TableName, matches
from limnograph.services.notes.registry import NoteRegistry
from limnograph.services.notes.targets import finding_key, key_of_table

_REMEMBERED = 100_000


class OwnerDirectory:
    """`properties`: reads the property of all tables, by uuid. `configured`: pairs of a pattern over
    `catalog.namespace.table` and an owner; the first matching pattern counts. Thread-safe: what was read is replaced
    whole; a look-up that races with it is of either state.
    """

    def __init__(
        self,
        registry: NoteRegistry,
        properties: Callable[[], Mapping[str, str]],
        configured: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._registry, self._read, self._configured = registry, properties, tuple(configured)
        self._properties: Mapping[str, str] = {}
        self._by_name: dict[TableName, str | None] = {}
        self._number = 0

    @property
    def version(self) -> tuple[int, int]:
        """Differs when an owner may have changed."""
        return self._registry.kinds_version("owner"), self._number

    def refresh(self) -> None:
        """Read the properties again. Blocks. Raises SourceError; what was read before then remains."""
        found = self._read()
        if found != self._properties:
            self._properties, self._number = dict(found), self._number + 1

    def of_table(self, uuid: str | None, name: TableName) -> str | None:
        """The owner of a table; None if none is known."""
        if self._registry.kinds_version("owner"):
            note = self._registry.newest("owner", key_of_table(uuid, name))
            if note is None and uuid:  # before it was readable it had no uuid
                note = self._registry.newest("owner", key_of_table(None, name))
            if note is not None:
                return note.text
        return (self._properties.get(uuid) if uuid else None) or self._of_settings(name)

    def of_finding(self, finding_id: str, uuid: str | None, name: TableName) -> str | None:
        """The owner of a finding: its own, else its table's."""
        note = self._registry.newest("owner", finding_key(finding_id))
        return self.of_table(uuid, name) if note is None else note.text

    def of_findings(self) -> dict[str, str]:
        """Owners that are named on findings, by finding id."""
        notes = self._registry.newest_of("owner")
        return {note.target: note.text for note in notes if note.scope == "finding" and note.target and note.text}

    def _of_settings(self, name: TableName) -> str | None:
        if not self._configured:
            return None
        if name not in self._by_name:
            if len(self._by_name) >= _REMEMBERED:
                self._by_name.clear()
            text = str(name)
            self._by_name[name] = next((owner for pattern, owner in self._configured if matches(pattern, text)), None)
        return self._by_name[name]
