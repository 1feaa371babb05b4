"""Runbooks for one table: no example of another table is left in a statement."""

from __future__ import annotations

import ast
import re

import pytest

from limnograph.analysis.advice.statements.subject import StatementTable
from limnograph.analysis.advice.statements.template import blocks_of, fill
from limnograph.analysis.advice.statements.touched_rows import Predicate
from limnograph.api.docs.runbooks import runbooks
from limnograph.domain.time import Millis

NOW = Millis(1_795_312_800_000)
CLICKS = StatementTable("prod", ("web",), "clicks", "", trino_catalog="hive-prod")
ODD = StatementTable("la`ke", ("a.b",), "<table>'\"", "")
DAY = Predicate("`day` = DATE '2026-11-21'", None, "\"day\" = DATE '2026-11-21'")
BLOCKS = [(name, *block) for name, text in runbooks().items() for block in blocks_of(text)]
COMPACTION = """CALL <catalog>.system.rewrite_data_files(
  table => '<catalog>.<namespace>.<table>',
  where => '<partition predicate>',
  options => map('a', 'b')
);"""
OPTIMIZE = "ALTER TABLE <catalog>.<namespace>.<table> EXECUTE optimize WHERE <partition predicate>;"


@pytest.mark.parametrize(("name", "language", "code"), BLOCKS)
def test_every_block_of_every_runbook_is_filled(name: str, language: str, code: str) -> None:
    assert not re.search(r"\blake\.|sales|customer_events", code), name
    found = fill(language, code, CLICKS, DAY, NOW)
    assert found.code is not None
    assert not re.search(r"<(catalog|namespace|table|a week ago|partition predicate)>", found.code)
    left = set(re.findall(r"<[a-z][a-z -]*>", found.code))
    assert all(each in (found.note or "") for each in left)
    if language == "python":
        ast.parse(found.code)


@pytest.mark.parametrize(
    ("language", "code", "filled"),
    [
        ("sql", "SELECT 1 FROM <catalog>.<namespace>.<table>.snapshots", "SELECT 1 FROM prod.web.clicks.snapshots"),
        ("sql", "TIMESTAMP '<a week ago>'", "TIMESTAMP '2026-11-15 00:00:00'"),
        ("trino", '<catalog>.<namespace>."<table>$files"', '"hive-prod".web."clicks$files"'),
        ("trino", "\"table\" = '<table>'", "\"table\" = 'clicks'"),
        (
            "python",
            'load_catalog("<catalog>").load_table("<namespace>.<table>")',
            'load_catalog("prod").load_table(("web", "clicks"))',
        ),
        ("sh", "findings --table <catalog>.<namespace>.<table>", "findings --table prod.web.clicks"),
        ("yaml", "{catalog: <catalog>, table: <table>}", '{catalog: "prod", table: "clicks"}'),
    ],
)
def test_a_placeholder_becomes_what_its_place_needs(language: str, code: str, filled: str) -> None:
    assert fill(language, code, CLICKS, None, NOW) == (filled, None)


@pytest.mark.parametrize(
    ("language", "code", "filled"),
    [
        ("sql", "<catalog>.<namespace>.<table>", "`la``ke`.`a.b`.`<table>'\"`"),
        ("sql", "'<catalog>.<namespace>.<table>'", "'`la``ke`.`a.b`.`<table>\\'\"`'"),
        ("trino", '<catalog>.<namespace>."<table>$files"', '"la`ke"."a.b"."<table>\'""$files"'),
        ("python", '"<namespace>.<table>"', "(\"a.b\", '<table>\\'\"')"),
        ("sh", "<catalog>.<namespace>.<table>", "'la`ke.a.b.<table>'\"'\"'\"'"),
    ],
)
def test_odd_names_are_quoted(language: str, code: str, filled: str) -> None:
    assert fill(language, code, ODD, None, NOW).code == filled


@pytest.mark.parametrize("language", ["sql", "trino", "python", "sh"])
def test_a_name_that_cannot_be_written_is_a_reason(language: str) -> None:
    code = '"<catalog>" <catalog>.<namespace>.<table>'
    found = fill(language, code, CLICKS._replace(table="a\u202eb"), None, NOW)
    if language == "python":
        assert found.code is not None  # a literal of Python has escapes
    else:
        assert found.code is None
        assert "invisible" in (found.note or "")


def test_conditions_are_those_of_the_commit() -> None:
    found = fill("sql", COMPACTION, CLICKS, DAY, NOW)
    assert found.note is None
    assert "where => '`day` = DATE \\'2026-11-21\\''," in (found.code or "")
    trino = fill("trino", OPTIMIZE, CLICKS, DAY, NOW)
    assert trino == (
        'ALTER TABLE "hive-prod".web.clicks EXECUTE optimize WHERE "day" = DATE \'2026-11-21\';',
        None,
    )
    like = Predicate("`r` = '<table>'", "x is omitted.", None)
    assert "where => '`r` = \\'<table>\\'',\n" in (fill("sql", COMPACTION, CLICKS, like, NOW).code or "")
    assert fill("sql", COMPACTION, CLICKS, like, NOW).note == "x is omitted."


def test_without_a_condition_the_note_says_what_the_statement_affects() -> None:
    for touched, why in (
        (None, "The partitions of a commit are unknown."),
        (Predicate(None, "The table is not partitioned."), "The table is not partitioned."),
    ):
        found = fill("sql", COMPACTION, CLICKS, touched, NOW)
        assert found.note == f"{why} The statement affects the whole table."
        assert "table => 'prod.web.clicks',\n  options =>" in (found.code or "")
    found = fill("trino", OPTIMIZE, CLICKS, DAY._replace(trino=None), NOW)
    assert found.code == 'ALTER TABLE "hive-prod".web.clicks EXECUTE optimize;'
    assert (found.note or "").startswith("Trino cannot select these partitions.")
