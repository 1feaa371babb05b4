"""A table with a bit of everything that its format version allows."""

from __future__ import annotations

from metadata_writer import EQUALITY_DELETES, POSITION_DELETES, Field, MetadataTable


def busy(table: MetadataTable) -> MetadataTable:
    """Appends, deletes, another spec, a branch, delete files, compaction, rewritten manifests, a published commit."""
    table.append(*(table.file("eu") for _ in range(5)), table.file("us", size=5_000))
    first = table.head()
    assert first
    table.append(table.file("eu", records=3), table.file(None))
    table.delete(table.files()[1], table.files()[2])
    table.set_spec((Field(2, "region"), Field(1, "id_bucket", "bucket[4]", "int")))
    table.append(table.file("eu", 3), table.file("asia", None))
    table.set_ref("audit", first)
    table.append(table.file("eu", 1), branch="audit")
    if table.version == 2:
        deletes = (
            table.file("eu", 3, content=POSITION_DELETES, records=4),
            table.file("eu", 3, content=EQUALITY_DELETES),
        )
        table.overwrite(deletes, ())
    if table.version == 3:
        targets = table.files()[:2]
        table.overwrite([table.vector(target) for target in targets], ())
        table.overwrite([table.vector(targets[0], records=2)], table.files(content=POSITION_DELETES)[:1])
    table.compact(*[f for f in table.files() if f.partition == ("eu",)])
    table.rewrite_manifests()
    staged = table.stage(table.file("us", 0), wap_id="w1")
    table.append(table.file("us", 0))
    table.cherry_pick(staged)
    return table
