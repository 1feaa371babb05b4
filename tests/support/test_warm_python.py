"""The warm interpreter against a real one: whoever starts a program cannot tell them apart, but by what is imported."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from warm_python import warm_python

PROGRAM = """
import os, signal, sys
imported = "wave" in sys.modules
said = sys.stdin.read()
print(__name__, sys.argv[1:], os.environ.get("WORD"), os.environ.get("HOME"), os.getcwd(), said, flush=True)
print(imported, file=sys.stderr, flush=True)
if said == "die":
    os.kill(os.getpid(), signal.SIGKILL)
if said == "fail":
    raise ValueError("as any program may")
sys.exit(int(said))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """It has imported `wave`, which nothing else here does."""
    with warm_python(tmp_path_factory.mktemp("warm"), ["wave"]) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def ran(python: Path | str, folder: Path, said: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "program", "one", "two"]
    return subprocess.run(
        command, input=said, capture_output=True, text=True, check=False, cwd=folder, env={"WORD": "w"}, timeout=60
    )


@pytest.mark.parametrize(("said", "status"), [("0", 0), ("3", 3), ("fail", 1), ("die", -signal.SIGKILL)])
def test_a_program_ends_as_it_does_in_an_interpreter_of_its_own(
    python: Path, folder: Path, said: str, status: int
) -> None:
    warm, own = ran(python, folder, said), ran(sys.executable, folder, said)
    assert (warm.returncode, warm.stdout) == (own.returncode, own.stdout)
    assert warm.returncode == status
    assert (warm.stderr.splitlines()[0], own.stderr.splitlines()[0]) == ("True", "False")
    assert ("ValueError: as any program may" in warm.stderr) == (said == "fail")


def test_what_is_no_module_runs_in_a_real_interpreter(python: Path, folder: Path) -> None:
    code = "import sys; print('wave' in sys.modules)"
    assert subprocess.run([python, "-c", code], capture_output=True, check=True).stdout == b"False\n"


def test_a_program_whose_starter_is_ended_is_ended_too(python: Path, folder: Path) -> None:
    (folder / "program.py").write_text("import os, time; print(os.getpid(), flush=True); time.sleep(600)")
    with subprocess.Popen([python, "-m", "program"], stdout=subprocess.PIPE, cwd=folder) as started:
        assert started.stdout is not None
        pid = int(started.stdout.readline())
        assert pid != started.pid
        os.kill(pid, 0)
        started.kill()
        assert started.stdout.read() == b""  # the program held the other end


def test_a_module_that_starts_a_thread_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="start a thread"), warm_python(tmp_path, ["polars"]):
        pass
