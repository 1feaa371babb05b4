"""Problem codes of snapshots as sentences with remedies."""

from __future__ import annotations

from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.table import TableMetadata

UNAVAILABLE = "storage_unavailable"

_SENTENCES = {
    UNAVAILABLE: "storage does not serve a file at the moment; its contents are unknown",
    "manifest_list_missing": "the manifest list does not exist",
    "manifest_list_unreadable": "the manifest list is damaged",
    "manifest_list_refused": "the manifest list is outside of the table's locations",
    "manifest_missing": "the counts come from the manifest list because a manifest does not exist",
    "manifest_unreadable": "the counts come from the manifest list because a manifest is damaged",
    "manifest_refused": "the counts come from the manifest list because a manifest is outside of the table's locations",
    "manifest_list_disagrees": "counts or lengths in the manifest list differ from its manifests, which are shown",
    "history_truncated": "the log before this version is missing; only the changes of this version are known",
    "history_damaged": "the log before this version is damaged; only the changes of this version are known",
    "history_archived": "older commits are archived and no longer readable; facts recorded only there are unknown",
    "commit_missing": "the file of this commit does not exist",
    "commit_unreadable": "the file of this commit is damaged",
    "checkpoint_unreadable": "a checkpoint is damaged",
    "checkpoint_too_large": "a checkpoint is larger than the size limit",
    "archive_unreadable": "the archived part of the timeline is damaged",
    "checksum_mismatch": "file counts in the version's checksum file differ from the log",
    "too_many_files": "the table has more files than the limit",
    "too_many_actions": "the commit has more actions than the limit",
    "shape_too_large": "more than a million live files: compaction debt and overlap are not computed",
}


_LOST = {"manifest_list_missing", "manifest_list_unreadable", "manifest_missing", "manifest_unreadable"}


def sentence(code: str) -> str:
    """The sentence of a code; an unknown code is returned unchanged."""
    return _SENTENCES.get(code, code.replace("_", " "))


def remedy(code: str, metadata: TableMetadata) -> str | None:
    """The remedy for a code; None if there is none."""
    if code in _LOST:
        return "restore it from a backup or the store's object versions, or roll main back to an intact snapshot"
    if not code.endswith("_refused"):
        return None
    home, log, _ = metadata.metadata_location.rpartition("/metadata/")
    if log and normalise_location(home) != normalise_location(metadata.location):
        return f"if the table was moved, use --path-map {metadata.location}={home}"
    return (
        "to allow a location outside of the table's folder, add it to [observe] roots, or use --path-map "
        "PREFIX=PATH with inspect"
    )
