"""Problem codes of snapshots as sentences for people."""

from __future__ import annotations

UNAVAILABLE = "storage_unavailable"

_SENTENCES = {
    UNAVAILABLE: "storage does not serve a file now; what it would tell is not known",
    "manifest_list_missing": "the manifest list does not exist",
    "manifest_list_unreadable": "the manifest list is damaged",
    "manifest_list_refused": "the manifest list lies outside of the table's own locations",
    "manifest_missing": "a manifest does not exist; the counts come from the manifest list",
    "manifest_unreadable": "a manifest is damaged; the counts come from the manifest list",
    "manifest_refused": "a manifest lies outside of the table's own locations; the counts come from the manifest list",
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


def sentence(code: str) -> str:
    """What a code says; an unknown one says itself."""
    return _SENTENCES.get(code, code.replace("_", " "))
