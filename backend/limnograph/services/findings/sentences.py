"""One sentence per finding, without times of the day, for the CLI, Grafana and the field `reason`. The dashboard
composes its own, with times in the reader's zone.
"""

from __future__ import annotations

from collections.abc import Callable

from limnograph.domain import wording as words
from limnograph.domain.answers.findings import Finding
from limnograph.domain.finding_codes import COST, EVENTS, QUERIES, FindingCode
from limnograph.services.findings.storage.storage_sentences import STORAGE_SENTENCES


def sentence_of(finding: Finding) -> str:
    """What is wrong, by whom, and what it did to jobs; lower case, without a full stop."""
    said = _SENTENCES[finding.code](finding)
    harmed = [_harm(each.job_name, each.ratio) for each in finding.effects if each.verdict == "slower"]
    return "; ".join([said, *harmed])


def _harm(job: str, ratio: float | None) -> str:
    return f"job {job} is slower" if ratio is None else f"job {job} takes {ratio:.1f} times as long"


def _number(finding: Finding, name: str) -> float | None:
    value = finding.evidence.get(name)
    return value if isinstance(value, int | float) else None


def _count(finding: Finding, name: str, what: str, otherwise: str) -> str:
    value = _number(finding, name)
    return otherwise if value is None else f"{words.count(int(value))} {what}"


def _by(finding: Finding) -> str:
    writer = finding.cause.writer if finding.cause else None
    return f" by {writer}" if writer else ""


def _mostly_by(finding: Finding) -> str:
    cause = finding.cause
    if cause is None or cause.writer is None or cause.share is None:
        return ""
    return f", {cause.share:.0%} of it by {cause.writer}"


def _burst(finding: Finding) -> str:
    files, size = _number(finding, "files"), _number(finding, "bytes")
    commits = len(finding.cause.snapshot_ids) if finding.cause else 1
    said = _count(finding, "files", "small files", "many small files")
    said += " in one commit" if commits == 1 else f" in {commits} commits"
    if files and size is not None:
        said += f", average {words.size(size / files)}"
    return said + _by(finding)


def _small_files(finding: Finding) -> str:
    said = _count(finding, "debt_saved_files", "files too many", "too many small files")
    return f"{said}: compaction is behind{_mostly_by(finding)}"


def _slower(finding: Finding) -> str:
    ratio, seconds, usual = (_number(finding, name) for name in ("ratio", "seconds", "usual_seconds"))
    if seconds is not None and usual is not None:
        return f"job {finding.subject} takes {words.seconds(seconds)}, usually {words.seconds(usual)}"
    return _harm(finding.subject, ratio)


def _silent(finding: Finding) -> str:
    usual = _number(finding, "usual_gap_seconds")
    every = "" if usual is None else f"; it usually runs every {words.seconds(usual)}"
    return f"job {finding.subject} has stopped running{every}"


def _many(finding: Finding) -> str:
    largest, limit = (_number(finding, name) for name in ("partition_files_max", "threshold"))
    if (
        largest is not None
        and limit is not None
        and limit < largest <= (_number(finding, "total_data_files") or largest)
    ):
        said = f"{words.count(int(largest))} data files in one partition"
        return said + _mostly_by(finding)
    return _count(finding, "total_data_files", "data files", "too many data files") + _mostly_by(finding)


def _missed(finding: Finding) -> str:
    limit = _number(finding, "threshold_seconds")
    objective = "its objective" if limit is None else f"its objective of {words.seconds(limit)}"
    if finding.subject == QUERIES:
        seconds = _number(finding, "seconds")
        now = "" if seconds is None else f": now {words.seconds(seconds)}"
        return f"the 95th percentile of query times is above {objective}{now}"
    if finding.subject == EVENTS:
        seconds = _number(finding, "seconds")
        now = "" if seconds is None else f": now {words.seconds(seconds)}"
        return f"events become queryable later than {objective}{now}"
    if finding.subject == COST:
        return _too_dear(finding)
    if finding.subject:
        return f"job {finding.subject} takes longer than {objective}"
    return f"the last commit is older than {objective}"


_CENTS_SAY_ENOUGH = 0.1


def _too_dear(finding: Finding) -> str:
    cost, limit = _number(finding, "cost"), _number(finding, "threshold")
    if cost is None or limit is None:
        return "a live GB costs more in a month than its objective"
    currency = finding.evidence.get("currency", "")
    digits = 2 if limit >= _CENTS_SAY_ENOUGH else 3
    return f"a live GB costs {cost:,.{digits}f} {currency} a month, above its objective of {limit:,.{digits}f}"


def _deletes(finding: Finding) -> str:
    said = _count(finding, "total_delete_files", "delete files", "delete files")
    data = _number(finding, "total_data_files")
    return f"{said}{'' if data is None else f' over {words.count(int(data))} data files'}, and none was merged"


def _stale(finding: Finding) -> str:
    usual = _number(finding, "usual_seconds")
    return "no commit" + ("" if usual is None else f"; usually one every {words.seconds(usual)}")


def _skew(finding: Finding) -> str:
    ratio = _number(finding, "skew_max_over_median")
    return "the largest partition is " + ("much larger than" if ratio is None else f"{ratio:.0f} times") + " the median"


def _hot(finding: Finding) -> str:
    ratio = _number(finding, "peak")
    times = "much larger than usual" if ratio is None else f"{ratio:.0f} times as large as usual"
    return f"partition {finding.subject} is {times}"


def _schema(finding: Finding) -> str:
    what = finding.evidence.get("what")
    return str(what) if what else f"schema {_versions(finding)}"


def _versions(finding: Finding) -> str:
    return f"{finding.evidence.get('from', '?')} → {finding.evidence.get('to', '?')}"


def _unreadable(finding: Finding) -> str:
    what = finding.evidence.get("what") or finding.evidence.get("problem") or "unknown problem"
    return f"metadata is unreadable: {str(what).strip().rstrip('.')}"


def _stale_reader(finding: Finding) -> str:
    behind = _number(finding, "behind_seconds")
    late = "long before" if behind is None else f"{words.seconds(behind)} before"
    return f"{finding.subject} reads snapshots that main left {late}"


def _unpruned(finding: Finding) -> str:
    share = _number(finding, "share")
    who = "most" if share is None else f"{share:.0%} of"
    return f"{who} scans filter {finding.subject}, which neither partitions nor sorts the table"


def _contention(finding: Finding) -> str:
    lost, attempts = _number(finding, "lost"), _number(finding, "attempts")
    if lost is None or attempts is None:
        said = "commits get in each other's way"
    else:
        said = f"{words.count(int(lost))} of {words.count(int(attempts))} attempts to commit were in vain"
    return said + _pair(finding)


def _pair(finding: Finding) -> str:
    loser, winner = finding.evidence.get("loser"), finding.evidence.get("winner")
    return f": {loser or 'a writer'} lost to {winner or 'another writer'}" if loser or winner else ""


def _stream_conflict(finding: Finding) -> str:
    said = _count(finding, "conflicts", "commits were refused", "commits were refused")
    return f"{said} because a stream and a batch job wrote the same data{_pair(finding)}"


def _null_share(finding: Finding) -> str:
    share, usual = (_number(finding, name) for name in ("null_share", "usual_share"))
    if share is None or usual is None:
        return f"the share of nulls in {finding.subject} has changed{_by(finding)}"
    return f"{share:.1%} of {finding.subject} are null, usually {usual:.1%}{_by(finding)}"


def _bounds(finding: Finding) -> str:
    if _number(finding, "future"):
        return f"{finding.subject} has values in the future{_by(finding)}"
    ratio = _number(finding, "range_ratio")
    times = "far more than" if ratio is None else f"{ratio:.0f} times"
    return f"values of {finding.subject} span {times} the usual range{_by(finding)}"


def _distinct(finding: Finding) -> str:
    found, usual = (_number(finding, name) for name in ("distinct", "usual_distinct"))
    if found is None or usual is None:
        return f"the number of distinct values of {finding.subject} has changed"
    return f"{words.count(int(found))} distinct values of {finding.subject}, usually {words.count(int(usual))}"


_SENTENCES: dict[FindingCode, Callable[[Finding], str]] = {
    "unreadable": _unreadable,
    "job_slower": _slower,
    "job_silent": _silent,
    "job_failing": lambda f: f"job {f.subject} failed {_count(f, 'failed', 'times in a row', 'repeatedly')}",
    "objective_missed": _missed,
    "file_burst": _burst,
    "small_files": _small_files,
    "too_many_files": _many,
    "compaction_stopped": lambda f: "compaction has stopped; " + _small_files(f),
    "compaction_ineffective": lambda _: "compaction no longer reduces the number of small files",
    "delete_files_growing": lambda f: _deletes(f) + _mostly_by(f),
    "equality_deletes": lambda _: "equality deletes, which slow down every reader",
    "snapshots_unbounded": lambda f: _count(f, "live_snapshots", "snapshots", "many snapshots") + " are retained",
    "metadata_large": lambda f: f"the metadata file has {words.size(_number(f, 'metadata_bytes') or 0)}",
    "manifests_fragmented": lambda f: _count(f, "manifests", "manifests", "many small manifests") + ", far too small",
    "metadata_versions_kept": lambda f: (
        _count(f, "metadata_log_entries", "old metadata files", "many old metadata files") + " are kept"
    ),
    "partition_skew": _skew,
    "hot_partition": _hot,
    "schema_breaking": _schema,
    "schema_changed": _schema,
    "spec_changed": lambda f: f"partition spec {_versions(f)}",
    "null_share_jump": _null_share,
    "bounds_jump": _bounds,
    "cardinality_jump": _distinct,
    "stale": _stale,
    "history_gap": lambda _: "commits expired before they were read",
    "stale_reader": _stale_reader,
    "two_pointers": lambda f: f"{f.subject} registers the same table and points at another snapshot",
    "filter_not_pruned": _unpruned,
    "commit_contention": _contention,
    "stream_batch_conflict": _stream_conflict,
    **STORAGE_SENTENCES,
}
