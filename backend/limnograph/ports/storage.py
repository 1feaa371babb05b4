"""Read-only storage of observed tables: whole small files and folder listings, restricted to an allow-list."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from limnograph.domain.time import Millis


class ListedFile(NamedTuple):
    """A file of a listing. `name` is relative to the listed folder, with `/` between levels; `size` in bytes."""

    name: str
    size: int
    modified_ms: Millis | None = None


class Storage(Protocol):
    """Locations are URIs as in metadata; adapters normalise them, map prefixes and check the allow-list.

    All methods raise MetadataError (`location_refused`) for a location outside the allow-list, and SourceError if
    storage cannot serve it now.
    """

    def read(self, location: str, limit: int) -> bytes:
        """The complete content. Raises MetadataError if the file is missing (`file_missing`) or longer than `limit`
        bytes (`file_too_large`).
        """
        ...

    def size(self, location: str) -> int:
        """Length in bytes. Raises the same as `read`."""
        ...

    def list(self, location: str, *, deep: bool = False) -> list[ListedFile]:
        """Files of a folder, by name; `deep`: of all folders below it too. Empty if the folder does not exist.

        Raises MetadataError (`folder_too_large`) above a fixed number of files.
        """
        ...
