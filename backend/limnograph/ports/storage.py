"""Read-only storage of observed tables: whole small files by location, inside an allow-list."""

from __future__ import annotations

from typing import Protocol


class Storage(Protocol):
    """Locations are URIs as they stand in metadata; adapters normalise them."""

    def read(self, location: str, limit: int) -> bytes:
        """Whole content. Raises MetadataError when the file is missing or longer than `limit` bytes, SourceError
        when storage does not serve it now.
        """
        ...

    def size(self, location: str) -> int:
        """Length in bytes. Raises as `read`."""
        ...
