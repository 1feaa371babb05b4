"""A durable row and what the watcher saw of the same commit, as one."""

from __future__ import annotations

import msgspec

from limnograph.domain.facts import SnapshotFact


def completed(durable: SnapshotFact, provisional: SnapshotFact) -> SnapshotFact:
    """The durable row; where it knows nothing, what the watcher knew."""
    missing = {
        name: value
        for name in durable.__struct_fields__
        if getattr(durable, name) is None and (value := getattr(provisional, name)) is not None
    }
    return msgspec.structs.replace(durable, **missing) if missing else durable
