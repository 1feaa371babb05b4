"""Which `remove` takes which `add`: Delta's Kernel compares `java.net.URI`s, and so do we, whatever the spelling."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest
from deltalake import DeltaTable

from delta_log import DeltaLog, add, content, remove, state_rows, told, vector
from limnograph.adapters.delta.paths import canonical
from limnograph.adapters.spark.java import java_home

SAME = [
    ("s3://bucket/x%2fy", "s3://bucket/x%2Fy"),
    ("r=%c3%a9", "r=%C3%A9"),
    ("file:/lake/x", "file:///lake/x"),
    ("FILE:/lake/x", "file:/lake/x"),
    ("S3://Bucket/x", "s3://bucket/x"),
    ("s3://bucket:080/x", "s3://bucket:80/x"),
    ("s3://bucket:/x", "s3://bucket/x"),
    ("s3://my_bucket/%aa", "s3://my_bucket/%AA"),
]
DIFFERENT = [
    ("/lake/x", "file:/lake/x"),
    ("/lake/x", "file:///lake/x"),
    ("/lake/with%20space/p@%23h", "file:/lake/with%20space/p@%23h"),
    ("file:/lake/x", "file://localhost/lake/x"),
    ("a%20b", "a b"),
    ("a%20b", "a+b"),
    ("a+b", "a%2Bb"),
    ("a%2520b", "a%20b"),
    ("dir/bar%2Dbar", "dir/bar-bar"),
    ("r=%C3%A9", "r=é"),
    ("r=é", "r=e\u0301"),
    ("a//b", "a/b"),
    ("./a", "a"),
    ("a/../b", "b"),
    ("A", "a"),
    ("s3a://bucket/x", "s3://bucket/x"),
    ("s3://My_bucket/x", "s3://my_bucket/x"),
    ("s3://bucket/X", "s3://bucket/x"),
    ("s3://bucket:80/x", "s3://bucket/x"),
]
MORE = [
    "//x",
    "////x",
    "///x",
    "dbfs:/x",
    "dbfs:///x",
    "mailto:a",
    "MAILTO:a",
    "mailto:A",
    "a#%aa",
    "a#%AA",
    "x?%aa",
    "x?%AA",
    "s3://1bucket/x",
    "s3://1Bucket/x",
    "s3://a.1b/x",
    "s3://A.1b/x",
    "s3://a.B.c/x",
    "s3://a.b.c./x",
    "s3://10.0.0.1/x",
    "s3://[::1]/x",
    "s3://[::1]:9/x",
    "s3://u@b/x",
    "s3://u%aa@b/x",
    "s3://u%AA@b/x",
    "s3://b..b/x",
    "s3://B..b/x",
    "s3://bu-/x",
    "s3://BU-/x",
    "file:/x/",
    "p=a%3ab/x",
    "p=a%3Ab/x",
]
RULES = [*((*pair, 0) for pair in SAME), *((*pair, 1) for pair in DIFFERENT)]
URI_EQUALS = """
import java.net.URI;
import java.nio.file.*;
import java.util.*;

public class Uris {
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            String[] pair = line.split("\\t");
            try {
                System.out.println(new URI(pair[0]).equals(new URI(pair[1])));
            } catch (java.net.URISyntaxException error) {
                System.out.println("refused");
            }
        }
    }
}
"""


@pytest.fixture
def log(tmp_path: Path) -> DeltaLog:
    return DeltaLog(tmp_path / "table")


def live_by_deltalake(log: DeltaLog) -> int:
    return len(DeltaTable(str(log.log.parent)).file_uris())


def test_two_paths_are_one_file_exactly_if_javas_uris_are_equal(tmp_path: Path) -> None:
    spelled = dict.fromkeys([*itertools.chain(*SAME, *DIFFERENT), *MORE])
    pairs = list(itertools.combinations_with_replacement(spelled, 2))
    program, cases = tmp_path / "Uris.java", tmp_path / "pairs"
    program.write_text(URI_EQUALS)
    cases.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    command = [f"{java_home()}/bin/java", "-Dfile.encoding=UTF-8", str(program), str(cases)]
    answers = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    judged = [(pair, answer == "true") for pair, answer in zip(pairs, answers, strict=True) if answer != "refused"]
    assert len(judged) > 1_000
    assert [pair for pair, equal in judged if (canonical(pair[0]) == canonical(pair[1])) != equal] == []


@pytest.mark.parametrize(("added", "removed", "live"), RULES)
def test_a_remove_applies_to_the_file_of_the_same_uri_and_no_other(
    log: DeltaLog, added: str, removed: str, live: int
) -> None:
    log.begin(add(added, size=7, records=3))
    log.commit(remove(removed))
    log.commit(add("other"), remove("another"))
    reading, later = told(log)[1], told(log)[2]
    totals = content(reading).totals
    assert (totals.data_files, totals.bytes, totals.records) == (live, 7 * live, 3 * live)
    assert content(reading).changed.removed_data_files == 1 - live
    assert content(later).totals.data_files == live + 1
    if live:
        assert live_by_deltalake(log) == 2  # it compares the text itself, so it agrees wherever URIs differ


@pytest.mark.parametrize(("added", "removed", "live"), [RULES[0], RULES[2], *RULES[len(SAME) : len(SAME) + 6]])
def test_an_add_of_a_checkpoint_is_compared_by_the_same_rule(
    log: DeltaLog, added: str, removed: str, live: int
) -> None:
    log.begin(add(added))
    log.parquet(f"{0:020}.checkpoint.parquet", state_rows(log))
    log.drop(0)
    log.commit(remove(removed))
    assert content(told(log)[1]).totals.data_files == live


def test_a_vector_is_part_of_the_files_identity_in_every_spelling(log: DeltaLog) -> None:
    marked = vector("abc", 3)
    log.begin(add("s3://b/%aa"))
    log.commit(remove("s3://b/%AA"), add("s3://B/%aa", dv=marked))
    log.commit(remove("s3://b/%AA"))
    log.commit(remove("s3://b/%AA", dv=vector("abc", 3, offset=2)))
    log.commit(remove("s3://b/%AA", dv=marked))
    assert [content(reading).totals.data_files for reading in told(log).values()] == [1, 1, 1, 1, 0]


def test_a_path_that_is_not_a_uri_equals_only_itself(log: DeltaLog) -> None:
    strange = ["a b", "100%", "%zz", "x:y?#&+", "1:2", "a\\b", "s3://a b/x"]
    log.begin(*(add(path) for path in strange))
    log.commit(remove("a b"), remove("%ZZ"))
    assert [content(reading).totals.data_files for reading in told(log).values()] == [7, 6]
