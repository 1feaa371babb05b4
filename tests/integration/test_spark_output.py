"""What `limnograph pipeline --once` prints when Spark fails: one line a problem with its cause, traces in a file."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from limnograph.adapters.spark.failures import first_line
from limnograph.adapters.spark.session import DRIVER_JVM, JVM_OPTIONS, _logging_to
from quick_jvm import quick_options
from served_lake import PROGRAM, small_lake

JAVA = """An error occurred while calling o846.overwrite.
: org.apache.spark.SparkException: [WRITING_JOB_ABORTED] Writing job aborted.
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.writingJobAbortedError(QueryExecutionErrors.scala:925)
Caused by: java.io.UncheckedIOException: Failed to create Parquet file
\tat org.apache.iceberg.parquet.ParquetWriter.ensureWriterInitialized(ParquetWriter.java:124)
\t... 28 more
Caused by: org.apache.hadoop.fs.ParentNotDirectoryException: Parent path is not a directory: file:/w/data
\t... 41 more
"""
PYTHON = """Job aborted due to stage failure: Task 0 in stage 3.0 failed 1 times: a.PythonException: \
Traceback (most recent call last):
  File "worker.py", line 3, in main
    process()
ValueError: no such column

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
Caused by: java.io.EOFException
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (JAVA, "ParentNotDirectoryException: Parent path is not a directory: file:/w/data"),
        (PYTHON, "ValueError: no such column"),
        (
            "An error occurred while calling o1.x.\n: java.lang.OutOfMemoryError: full\n\tat a.B",
            "OutOfMemoryError: full",
        ),
        ("[TABLE_NOT_FOUND] There is none.\nVerify the name.", "[TABLE_NOT_FOUND] There is none."),
        ("catalog lake: refused", "catalog lake: refused"),
        ("", "no reason given"),
        ("x" * 400, "x" * 300),
    ],
)
def test_the_printed_line_is_the_innermost_cause(text: str, line: str) -> None:
    assert first_line(text) == line


def test_jvm_options_and_the_log_of_the_user_are_kept() -> None:
    file = Path("/var/lib/a b/pipeline.log")
    made = _logging_to(file, DRIVER_JVM)[JVM_OPTIONS]
    assert made.startswith(DRIVER_JVM)
    assert '"-Dlimnograph.log=/var/lib/a b/pipeline.log"' in made
    assert _logging_to(file, "-Dlog4j2.configurationFile=mine.xml") == {}


@pytest.fixture
def unwritable(tmp_path: Path) -> Path:
    """A lake whose meta table has a file where its folder of data belongs."""
    small_lake(tmp_path, f'[spark]\nmaster = "local[1]"\nconf."{JVM_OPTIONS}" = "{quick_options()}"\n')
    (tmp_path / "wh" / "limnograph" / "snapshots").mkdir(parents=True)
    (tmp_path / "wh" / "limnograph" / "snapshots" / "data").touch()
    return tmp_path


@pytest.mark.spark
def test_a_failing_write_is_a_line_with_its_cause_and_traces_are_in_a_file(unwritable: Path) -> None:
    command = [*PROGRAM, "pipeline", "--once", "--json", "--config", str(unwritable / "limnograph.toml")]
    failed = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    log = unwritable / ".limnograph" / "pipeline.log"
    assert (failed.returncode, failed.stdout) == (1, "")
    lines = printed(failed.stderr)
    assert len(lines) <= 6, failed.stderr
    assert not any(line.startswith(("\t", "Caused by", "Traceback", "  File")) for line in lines)
    assert "Parent path is not a directory" in lines[-2]
    assert str(log) in lines[-1]
    assert "\tat org.apache.iceberg" in log.read_text()
    (unwritable / "wh" / "limnograph" / "snapshots" / "data").unlink()
    mended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert mended.returncode == 0, mended.stderr
    assert json.loads(mended.stdout.splitlines()[-1])["snapshots_appended"] == 1
    assert mended.stdout.count("\n") == 1
    assert len(printed(mended.stderr)) <= 12, mended.stderr


def printed(text: str) -> list[str]:
    """Lines without those about a slow start of the parser, which a busy machine adds."""
    return [line for line in text.splitlines() if "parser: " not in line]
