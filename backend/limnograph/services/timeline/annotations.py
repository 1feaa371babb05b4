"""A commit in one line, for other programs' graphs: its effect and its writer."""

from __future__ import annotations

from limnograph.domain.answers.annotations import Annotation
from limnograph.domain.answers.commits import CommitRow
from limnograph.domain.ids import TableName
from limnograph.domain.page_paths import commit_path


def annotation(commit: CommitRow) -> Annotation:
    """The annotation of a commit. Unknown numbers are left out, never 0."""
    counts = (
        (commit.added_data_files, "+", "data file"),
        (commit.removed_data_files, "\u2212", "data file"),
        (commit.added_delete_files, "+", "delete file"),
        (commit.removed_delete_files, "\u2212", "delete file"),
        (commit.added_records, "+", "record"),
    )
    told = [f"{sign}{count:,} {kind}{'' if count == 1 else 's'}" for count, sign, kind in counts if count]
    nothing = "no file changed" if all(count is not None for count, _, _ in counts) else "changes are unknown"
    told += ["schema changed"] * commit.schema_changed
    writer = commit.app_name or commit.app_id or commit.engine
    name = f"{commit.catalog}.{commit.namespace}.{commit.table}"
    tags = [commit.operation, name, commit.engine, None if commit.on_main else "not on main"]
    return Annotation(
        id=commit.snapshot_id,
        time=commit.t,
        title=f"{commit.operation or 'commit'} {name}",
        text=", ".join(told or [nothing]) + (f", by {writer}" if writer else ""),
        tags=[tag for tag in tags if tag],
        path=commit_path(TableName.from_plain(commit.catalog, commit.namespace, commit.table), commit.snapshot_id),
    )
