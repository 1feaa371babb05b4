"""Former home of `adapters/storage/files.py`, until its last importers have moved."""

from __future__ import annotations

from limnograph.adapters.storage.files import FileStorage as IcebergStorage

__all__ = ["IcebergStorage"]
