"""A snapshot that was current until a moment ago is not removed, however old it is: a query may still read it."""

from pathlib import Path

from limnograph.adapters.iceberg.reader import IcebergReader
from limnograph.adapters.storage.files import FileStorage
from limnograph.analysis.advice.retention import DAY_MS, HOUR_MS, expiry_within, recent_heads
from limnograph.domain.time import Millis
from metadata_writer import MetadataTable


def test_a_head_of_a_quiet_table_stays_for_a_day_after_main_left_it(tmp_path: Path) -> None:
    table = MetadataTable(tmp_path)
    oldest, old = (table.append(table.file("eu")) for _ in range(2))
    table.tick(9 * DAY_MS)
    for _ in range(3):
        table.append(table.file("eu"))
    metadata = IcebergReader(FileStorage({})).metadata(table.metadata_location)
    soon, later = Millis(table.now_ms + HOUR_MS), Millis(table.now_ms + 2 * DAY_MS)
    assert old in recent_heads(metadata, soon)
    assert expiry_within(metadata, soon, None).snapshot_ids == {oldest}
    assert expiry_within(metadata, later, None).snapshot_ids == {oldest, old}
