"""The page of branches and tags: what each leads to, what expiry keeps because of it, how they moved."""

import asyncio
import json

from limnograph.domain.errors import SourceUnavailable
from limnograph.domain.ids import TableName
from limnograph.services.table.refs.retention import protected, retention
from serving_kit import HOUR, NOW, change, lake, moved, parts, row

NAME = TableName("lake", "sales", "orders")
DAY = 24 * HOUR
DAY_MS = DAY // 1000


def kept(kind="branch", **said):
    return json.dumps({"type": kind, "retention": {key.replace("_", "-"): value for key, value in said.items()}})


def ref(name, at, to, before=None, detail=None):
    text = None if to is None else str(to)
    return change("ref", at, text, subject=name, from_value=before, detail=detail or kept())


def line(*days):
    """Commits 1, 2, … of main, so many days ago, and main's log."""
    rows = [
        row(i, NOW - age * DAY, parent_id=i - 1 or None, live_snapshots=len(days))
        for i, age in enumerate(days, start=1)
    ]
    before = [None, *(str(r.snapshot_id) for r in rows)]
    moves = zip(rows, before, strict=False)
    return rows, [moved(r.snapshot_id, r.committed_at, from_value=b, detail=kept()) for r, b in moves]


def page(rows, changes):
    made = parts(lake(rows, changes))
    return asyncio.run(made.backend.refs.page(NAME))[0]


def named(found):
    return {found_ref.name: found_ref for found_ref in found.refs}


def test_main_leads_the_list_with_its_ancestors_and_what_an_expiry_now_would_keep() -> None:
    rows, log = line(9, 6, 4, 1)
    main = page(rows, log).refs[0]
    assert (main.name, main.type, main.snapshot_id, main.ancestors) == ("main", "branch", "4", 4)
    assert (main.protected, main.protected_from) == (2, (NOW - 4 * DAY) // 1000)
    assert (main.retention.max_snapshot_age_ms, main.retention.max_age_said_by) == (5 * DAY_MS, "default")
    assert main.sentence == "Expiry keeps the newest snapshot and all of the last 5 days, currently 2"


def test_settings_of_the_ref_win_over_the_table_and_those_over_the_default() -> None:
    rows, log = line(9, 6, 4, 1)
    properties = [
        change("property", NOW - DAY, "3", subject="history.expire.min-snapshots-to-keep"),
        change("property", NOW - DAY, str(DAY_MS), subject="history.expire.max-snapshot-age-ms"),
    ]
    log[-1] = moved(4, NOW - DAY, from_value="3", detail=kept(max_snapshot_age_ms=7 * DAY_MS))
    rule = page(rows, [*log, *properties]).refs[0]
    assert (rule.retention.min_snapshots_to_keep, rule.retention.min_snapshots_said_by) == (3, "table")
    assert (rule.retention.max_snapshot_age_ms, rule.retention.max_age_said_by) == (7 * DAY_MS, "ref")
    assert rule.protected == 3


def test_a_tag_keeps_its_snapshot_until_expiry_removes_the_tag() -> None:
    rows, log = line(9, 6, 4, 1)
    tags = [
        ref("q3", NOW - HOUR, 2, detail=kept("tag", max_ref_age_ms=30 * DAY_MS)),
        ref("release", NOW - HOUR, 1, detail=kept("tag")),
    ]
    found = named(page(rows, [*log, *tags]))
    assert (found["q3"].type, found["q3"].protected, found["q3"].expires_at) == ("tag", 1, (NOW + 24 * DAY) // 1000)
    assert (found["q3"].ahead, found["q3"].behind) == (0, 2)
    assert (found["release"].expires_at, found["release"].retention.max_ref_age_ms) == (None, None)
    assert found["release"].retention.max_ref_age_said_by == "default"


def test_a_branch_has_its_number_of_commits_ahead_of_and_behind_main() -> None:
    rows, log = line(9, 6, 4, 1)
    aside = [row(91, NOW - 2 * HOUR, parent_id=2), row(92, NOW - HOUR, parent_id=91)]
    found = named(page([*rows, *aside], [*log, ref("audit", NOW - HOUR, 92)]))
    assert (found["audit"].ahead, found["audit"].behind, found["audit"].ancestors) == (2, 2, 4)


def test_a_snapshot_without_a_row_leaves_everything_about_the_ref_unknown() -> None:
    rows, log = line(9, 6)
    lost = named(page(rows, [*log, ref("old", NOW - HOUR, 777, detail=kept("tag"))]))["old"]
    assert (lost.committed_at, lost.ancestors, lost.ahead, lost.behind, lost.protected) == (None,) * 5


def test_a_row_older_than_retention_support_leaves_retention_unknown() -> None:
    rows, log = line(9, 6)
    log[-1] = moved(2, NOW - 6 * DAY, from_value="1", detail='{"type":"branch"}')
    found = page(rows, log)
    assert (found.refs[0].protected, found.refs[0].retention.min_snapshots_to_keep) == (None, None)
    assert [note.code for note in found.notes] == ["retention_unknown"]


def test_expiry_keeps_no_more_than_there_is() -> None:
    rows, log = line(4, 3, 2, 1)
    rows[-1] = row(4, NOW - DAY, parent_id=3, live_snapshots=2)
    assert page(rows, log).refs[0].protected == 2


def test_the_rule_of_expiry_stops_at_the_first_old_snapshot_beyond_the_least_number() -> None:
    rule = retention("branch", "main", {"retention": {"min-snapshots-to-keep": 2, "max-snapshot-age-ms": 100}}, {})
    assert protected("branch", rule, [950, 800, 700, 999], 1_000) == 2
    assert protected("branch", rule, [990, 980, 950, 10], 1_000) == 3
    assert protected("branch", rule, [990, 980, None], 1_000) is None
    assert protected("branch", rule, [990], 1_000) == 1


def test_commits_of_main_are_not_moves_and_a_rollback_is_one() -> None:
    rows, log = line(9, 6, 4, 1)
    back = moved(2, NOW - HOUR, from_value="4", detail=kept())
    found = page(rows, [*log, back])
    assert [(m.name, m.kind, m.from_snapshot_id, m.to_snapshot_id) for m in found.moves] == [
        ("main", "rolled_back", "4", "2")
    ]
    assert found.refs[0].snapshot_id == "2"


def test_a_branch_that_is_published_removed_and_recreated_is_listed_in_order() -> None:
    rows, log = line(9, 6)
    aside = [row(91, NOW - 3 * HOUR, parent_id=2), row(92, NOW - 2 * HOUR, parent_id=91)]
    story = [
        ref("audit", NOW - 3 * HOUR, 91),
        ref("audit", NOW - 2 * HOUR, 92, before="91"),
        moved(92, NOW - HOUR, from_value="2", detail=kept()),
        ref("audit", NOW - HOUR // 2, None, before="92"),
        ref("audit", NOW - HOUR // 4, 1),
    ]
    found = page([*rows, *aside], [*log, *story])
    assert [(m.name, m.kind) for m in found.moves] == [
        ("audit", "created"),
        ("audit", "removed"),
        ("main", "advanced"),
        ("audit", "advanced"),
        ("audit", "created"),
    ]
    assert named(found)["audit"].behind == 3


def test_formats_without_branches_say_so() -> None:
    rows, log = line(2, 1)
    for kind, code in (("delta", "one_branch"), ("hudi", "savepoints")):
        of_kind = [row(r.snapshot_id, r.committed_at, parent_id=r.parent_id, format=kind) for r in rows]
        found = page(of_kind, log)
        assert [note.code for note in found.notes] == [code]
        assert (found.refs[0].retention, found.refs[0].protected) == (None, None)


def test_when_the_meta_tables_fail_the_page_is_served_from_memory_and_says_so() -> None:
    rows, log = line(1, 0)
    engine = lake(rows, log)
    made = parts(engine)
    engine.failure = SourceUnavailable("meta", "no storage")
    found, failed = asyncio.run(made.backend.refs.page(NAME))
    assert (failed, [r.name for r in found.refs], found.notes[0].code) == (True, ["main"], "meta_unread")
