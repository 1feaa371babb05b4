"""Files that an expiry is about to delete, kept until they are."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from limnograph.domain.errors import InvalidInput

_PLAN = re.compile(r"[A-Za-z0-9_-]{1,64}")


class KeptList:
    """A list of locations in a file of its own per plan. Used by one thread: the holder of the table's lease."""

    def __init__(self, folder: Path, plan_id: str) -> None:
        if not _PLAN.fullmatch(plan_id):
            raise InvalidInput("plan_id", f"{plan_id!r} is not a plan id")
        self._path = folder / f"expired-{plan_id}.json"

    def write(self, locations: list[str]) -> None:
        """Replace the list, durably."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        new = self._path.with_suffix(".new")
        with new.open("w") as file:
            json.dump(locations, file)
            file.flush()
            os.fsync(file.fileno())
        new.replace(self._path)

    def read(self) -> list[str] | None:
        """The list in its order; None: there is none."""
        try:
            found: list[str] = json.loads(self._path.read_text())
        except FileNotFoundError:
            return None
        return found

    def forget(self) -> None:
        """Remove the list."""
        self._path.unlink(missing_ok=True)
