"""A commit of operation `replace`, which PyIceberg does not offer: files are exchanged, and the rows stay the same."""

from __future__ import annotations

from typing import Any, Self

from pyiceberg.io import FileIO
from pyiceberg.table import Transaction
from pyiceberg.table.snapshots import Operation, Summary
from pyiceberg.table.update.snapshot import _OverwriteFiles


class RewriteFiles(_OverwriteFiles):
    """PyIceberg's exchange of files under the name that the Iceberg specification gives to a compaction."""

    @classmethod
    def in_main(cls, transaction: Transaction, io: FileIO, properties: dict[str, str]) -> Self:
        """An exchange of files of branch main."""
        return cls(Operation.OVERWRITE, transaction, io, snapshot_properties=properties)

    def _summary(self, *arguments: Any, **named: Any) -> Summary:
        # PyIceberg computes summaries of `overwrite`, whose numbers are those of a `replace`.
        computed = super()._summary(*arguments, **named)
        return Summary(Operation.REPLACE, **computed.additional_properties)
