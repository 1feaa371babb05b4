"""Finds a JDK 17: JAVA_HOME, `java` on PATH, then the default folders of Debian, Fedora and macOS."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from limnograph.domain.errors import EnvironmentFault

WANTED = 17
REMEDY = (
    "Debian/Ubuntu: `apt-get install openjdk-17-jdk-headless`, Fedora: `dnf install java-17-openjdk-headless`, "
    "macOS: `brew install openjdk@17`"
)
FOLDERS = (
    "/usr/lib/jvm/*17*",
    "/usr/java/*17*",
    "/opt/java/*",
    "/opt/homebrew/opt/openjdk@17/libexec/openjdk.jdk/Contents/Home",
    "/usr/local/opt/openjdk@17/libexec/openjdk.jdk/Contents/Home",
    "/Library/Java/JavaVirtualMachines/*17*/Contents/Home",
)


def java_home(env: Mapping[str, str] = os.environ, folders: Sequence[str] = FOLDERS) -> str:
    """Folder of a JDK 17. Raises EnvironmentFault: one sentence with the command that installs it."""
    found: dict[str, int | None] = {}
    for home in _homes(env, folders):
        if home not in found:
            found[home] = _version(home)
        if found[home] == WANTED:
            return home
    others = ", ".join(f"{home} is {version}" for home, version in found.items() if version)
    raise EnvironmentFault(
        f"Spark 4.1 requires Java {WANTED}, which was not found{f' ({others})' if others else ''}. {REMEDY}"
    )


def _homes(env: Mapping[str, str], folders: Sequence[str]) -> Iterator[str]:
    if given := env.get("JAVA_HOME"):
        yield given
    if java := shutil.which("java", path=env.get("PATH")):
        yield str(Path(java).resolve().parent.parent)
    if (tool := Path("/usr/libexec/java_home")).exists():
        asked = subprocess.run([str(tool), "-v", str(WANTED)], capture_output=True, text=True, check=False)
        if asked.returncode == 0:
            yield asked.stdout.strip()
    for pattern in folders:
        yield from sorted(str(path) for path in Path("/").glob(pattern.lstrip("/")))


def _version(home: str) -> int | None:
    """Major version, from the `release` file without starting Java; else from the program."""
    java = Path(home) / "bin" / "java"
    if not java.exists():
        return None
    try:
        text = (Path(home) / "release").read_text()
    except OSError:
        try:
            text = subprocess.run(
                [str(java), "-version"], capture_output=True, text=True, check=False, timeout=300
            ).stderr
        except (OSError, subprocess.TimeoutExpired):
            return None
    match = re.search(r'(?:JAVA_VERSION=|version )"(\d+)', text)
    return int(match[1]) if match else None
