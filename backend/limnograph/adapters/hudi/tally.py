"""Running sums over the live files of a table or a partition, which also count files of unknown size or rows."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class HudiFile(NamedTuple):
    """A base or log file. Bytes and rows are None if neither a write stat nor a listing has them.

    order  of a base file: its instant. Of a log: the key of its file slice
    """

    order: str
    size: int | None
    records: int | None = None


class Tally(msgspec.Struct):
    """Counts, bytes and rows. `unsized`, `unsized_logs`, `uncounted`: files without bytes or rows, in no sum."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    logs: int = 0
    log_bytes: int = 0
    small: int = 0
    unsized: int = 0
    uncounted: int = 0
    unsized_logs: int = 0

    def base(self, file: HudiFile, sign: int, small_below: int | None) -> None:
        """Add (`sign` 1) or remove (-1) a base file."""
        self.files += sign
        if file.size is None:
            self.unsized += sign
        else:
            self.bytes += sign * file.size
            self.small += sign * (small_below is not None and file.size < small_below)
        if file.records is None:
            self.uncounted += sign
        else:
            self.records += sign * file.records

    def log(self, file: HudiFile, sign: int) -> None:
        """Add or remove a log file."""
        self.logs += sign
        if file.size is None:
            self.unsized_logs += sign
        else:
            self.log_bytes += sign * file.size

    @property
    def known_bytes(self) -> int | None:
        return None if self.unsized else self.bytes

    @property
    def known_records(self) -> int | None:
        return None if self.uncounted else self.records

    @property
    def known_log_bytes(self) -> int | None:
        return None if self.unsized_logs else self.log_bytes
