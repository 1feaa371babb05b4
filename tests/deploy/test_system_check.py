"""What only the system can give is named by `system.sh --check` where it is missing, and asked of nobody who has it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "deploy" / "setup" / "system.sh"
TOOLS = ("sh", "dirname", "readlink", "grep", "python3")


def _checked(folder: Path, *, with_chromium: bool) -> subprocess.CompletedProcess[str]:
    """The check on a system whose PATH has the shell's own tools and, if asked, a Chromium."""
    for name in TOOLS:
        found = shutil.which(name)
        assert found
        (folder / name).symlink_to(found)
    if with_chromium:
        (folder / "chromium").symlink_to("/bin/true")
    known = {key: value for key, value in os.environ.items() if key != "CHROMIUM_PATH"}
    return subprocess.run(
        [str(folder / "sh"), str(SCRIPT), "--check"],
        env={**known, "PATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(Path("/Applications/Google Chrome.app").exists(), reason="Chrome of macOS is found outside PATH")
def test_a_missing_chromium_is_named(tmp_path: Path) -> None:
    found = _checked(tmp_path, with_chromium=False)
    assert found.returncode == 1
    assert "missing: chromium (browser tests)" in found.stdout
    assert "apt-get install" in found.stderr


def test_a_chromium_on_the_path_is_not_reported_as_missing(tmp_path: Path) -> None:
    assert "chromium" not in _checked(tmp_path, with_chromium=True).stdout
