"""Problem codes of snapshots as sentences for people, and what they can do."""

from __future__ import annotations

from limnograph.domain.ids import normalise_location
from limnograph.domain.metadata.table import TableMetadata

UNAVAILABLE = "storage_unavailable"

_SENTENCES = {
    UNAVAILABLE: "storage does not serve a file now; what it would tell is not known",
    "manifest_list_missing": "the manifest list does not exist",
    "manifest_list_unreadable": "the manifest list is damaged",
    "manifest_list_refused": "the manifest list lies outside of the table's own locations",
    "manifest_missing": "the counts come from the manifest list, for a manifest does not exist",
    "manifest_unreadable": "the counts come from the manifest list, for a manifest is damaged",
    "manifest_refused": "the counts come from the manifest list, for a manifest lies outside of the table's locations",
    "manifest_list_disagrees": "the manifest list says other counts or lengths than its manifests; theirs are shown",
    "history_truncated": "the log before this version is gone; only what the version itself changed is known",
    "history_damaged": "the log before this version is damaged; only what the version itself changed is known",
    "history_archived": "older commits are archived and no longer readable; what only they told is not known",
    "commit_missing": "the file of this commit does not exist",
    "commit_unreadable": "the file of this commit is damaged",
    "checkpoint_unreadable": "a checkpoint is damaged",
    "checkpoint_too_large": "a checkpoint is larger than what is read",
    "archive_unreadable": "the archived part of the timeline is damaged",
    "checksum_mismatch": "the version's checksum file counts other files than the log",
    "too_many_files": "the table holds more files than are counted",
    "too_many_actions": "the commit holds more actions than are read",
    "shape_too_large": "more than a million live files: compaction debt and overlap are not computed",
}


_LOST = {"manifest_list_missing", "manifest_list_unreadable", "manifest_missing", "manifest_unreadable"}


def sentence(code: str) -> str:
    """What a code says; an unknown one says itself."""
    return _SENTENCES.get(code, code.replace("_", " "))


def remedy(code: str, metadata: TableMetadata) -> str | None:
    """What helps against a code; None where nothing does."""
    if code in _LOST:
        return (
            "a backup or the store's older versions may have it, else main can be rolled back to a snapshot that is ok"
        )
    if not code.endswith("_refused"):
        return None
    home, log, _ = metadata.metadata_location.rpartition("/metadata/")
    if log and normalise_location(home) != normalise_location(metadata.location):
        return f"a table that was moved is read with --path-map {metadata.location}={home}"
    return "a place beside the table's folder is allowed by [observe] roots, and to inspect by --path-map PREFIX=PLACE"
