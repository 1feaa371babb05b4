"""Empty files in the place of data files that are only described, for tables that the demo's maintainer works on: it
verifies that every live file of a table exists.
"""

from __future__ import annotations

from collections.abc import Iterable

from limnograph.demo.lake.commits import LakeLocation, open_table
from limnograph.demo.lake.timeshift import local


def put_placeholders(place: LakeLocation, names: Iterable[str]) -> int:
    """Create what is missing of the live files of tables (`namespace.table`). Returns the number of files created."""
    created = 0
    for name in names:
        table = open_table(place, name)
        snapshot = table.current_snapshot()
        for manifest in snapshot.manifests(table.io) if snapshot else ():
            for entry in manifest.fetch_manifest_entry(table.io):
                path = local(entry.data_file.file_path)
                if not path.exists():
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.touch()
                    created += 1
    return created
