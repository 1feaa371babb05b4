"""Children of the demo: started with a log, waited for, and never left behind. Real processes, no stand-ins."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from limnograph.demo.folder import Folder
from limnograph.demo.processes.children import ChildProcesses, Program
from limnograph.demo.processes.tools import TOOLS_ENV, is_free, server_port, tool
from limnograph.demo.progress import Progress
from limnograph.domain.errors import Conflict, EnvironmentFault, InvalidInput

SLEEPER = (sys.executable, "-c", "import time; print('here', flush=True); time.sleep(600)")
STUBBORN = (
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(600)",
)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid: int, seconds: float = 10) -> bool:
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def test_leaving_the_block_ends_every_child(tmp_path: Path) -> None:
    with ChildProcesses(tmp_path, Progress()) as children:
        first, second = (children.start(Program(name, SLEEPER)) for name in ("first", "second"))
        for child in (first, second):
            children.wait_until(child, lambda log=child.log: "here" in log.read_text(), 20)
        pids = [child._process.pid for child in (first, second)]
        assert all(map(alive, pids))
        assert [children.named(name) for name in ("first", "second")] == [first, second]
    assert not any(map(alive, pids))


def test_a_child_that_ignores_the_request_is_killed(tmp_path: Path) -> None:
    with ChildProcesses(tmp_path, Progress(), stop_seconds=0.5) as children:
        child = children.start(Program("stubborn", STUBBORN))
        children.wait_until(child, lambda: "here" in child.log.read_text(), 20)
    assert child.exit_code == -signal.SIGKILL


def test_a_child_that_ends_before_it_is_ready_is_named_with_its_last_output(tmp_path: Path) -> None:
    with ChildProcesses(tmp_path, Progress()) as children:
        child = children.start(Program("pipeline", (sys.executable, "-c", "raise SystemExit('no Java 17')")))
        with pytest.raises(EnvironmentFault, match=r"pipeline ended \(1\): no Java 17; see .*pipeline.log"):
            children.wait_until(child, lambda: False, 20)


def test_a_child_that_is_never_ready_is_abandoned(tmp_path: Path) -> None:
    with ChildProcesses(tmp_path, Progress()) as children:
        child = children.start(Program("slow", SLEEPER))
        with pytest.raises(EnvironmentFault, match="was not ready after 0 s"):
            children.wait_until(child, lambda: False, 0.3)


def test_a_child_delayed_by_the_machine_is_not_abandoned(tmp_path: Path) -> None:
    with ChildProcesses(tmp_path, Progress()) as children:
        child = children.start(Program("stopped", SLEEPER))
        children.wait_until(child, lambda: "here" in child.log.read_text(), 20)
        os.killpg(child.pid, signal.SIGSTOP)
        end = time.monotonic() + 1.5
        children.wait_until(child, lambda: time.monotonic() > end, 0.5)
        os.killpg(child.pid, signal.SIGCONT)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_the_children_of_a_killed_parent_end_too(tmp_path: Path) -> None:
    script = textwrap.dedent(f"""
        import sys, time
        from pathlib import Path
        from limnograph.demo.processes.children import ChildProcesses, Program
        from limnograph.demo.progress import Progress
        with ChildProcesses(Path({str(tmp_path)!r}), Progress()) as children:
            child = children.start(Program("child", {SLEEPER!r}))
            children.wait_until(child, lambda: "here" in child.log.read_text(), 20)
            print(child._process.pid, flush=True)
            time.sleep(600)
    """)
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert alive(pid)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    assert gone(pid)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_every_stop_signal_ends_parent_and_children_in_order(tmp_path: Path, number: signal.Signals) -> None:
    script = textwrap.dedent(f"""
        import time
        from pathlib import Path
        from limnograph.demo.processes.children import ChildProcesses, Program
        from limnograph.demo.progress import Progress
        from limnograph.demo.processes.supervisor import stop_on_signals
        stop_on_signals()
        try:
            with ChildProcesses(Path({str(tmp_path)!r}), Progress()) as children:
                child = children.start(Program("child", {SLEEPER!r}))
                children.wait_until(child, lambda: "here" in child.log.read_text(), 20)
                print(child._process.pid, flush=True)
                time.sleep(600)
        except KeyboardInterrupt:
            raise SystemExit(7)
    """)
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        # As a shell starts what runs in the background.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # noqa: PLW1509
    )
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    parent.send_signal(number)
    parent.send_signal(number)
    assert parent.wait(timeout=20) == 7
    assert gone(pid)


def test_two_demos_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        Folder(tmp_path).held(),
        pytest.raises(Conflict, match="a demo is already running in"),
        Folder(tmp_path).held(),
    ):
        pass
    with Folder(tmp_path).held():
        pass


def test_clearing_deletes_only_what_the_demo_made(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.make()
    folder.mark_built({"version": 1})
    (tmp_path / "mine.txt").write_text("keep")
    (folder.warehouse / "x").mkdir()
    assert folder.built == {"version": 1}
    folder.clear()
    assert folder.built is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt"]


def test_a_folder_that_links_elsewhere_is_unlinked_not_emptied(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "data").write_text("keep")
    root = tmp_path / "demo"
    root.mkdir()
    (root / "warehouse").symlink_to(elsewhere)
    Folder(root).clear()
    assert (elsewhere / "data").exists()
    assert not (root / "warehouse").exists()


def test_a_taken_port_is_refused_when_given_and_avoided_when_not() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        with pytest.raises(InvalidInput, match=f"--port: {port} is in use"):
            server_port(port, 8787)
        other = server_port(None, port)
        assert other != port
        assert is_free(other)


def test_a_missing_program_is_a_one_line_error_with_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOOLS_ENV, str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFault, match="no-such-program was not found; run `make setup`"):
        tool("no-such-program")
    (tmp_path / "prometheus").mkdir()
    own = tmp_path / "prometheus" / "no-such-program"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    assert tool("no-such-program") == own


def test_a_given_port_that_is_taken_ends_the_command_with_2(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "limnograph", "demo", "--port", port, "--dir", str(tmp_path / "demo")]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert (
        done.stderr
        == f"limnograph: --port: {port} is in use on 127.0.0.1; pass another port, or none for any free port\n"
    )
