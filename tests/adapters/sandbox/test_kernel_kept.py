"""Where compiled code is kept, and that damage there neither breaks a reader nor stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from limnograph.adapters.sandbox.spawn import compiled_code


def loaded(kept: Path) -> str:
    """Which functions a process takes from the folder: `function compiled` or `function taken`, line by line."""
    program = """
from limnograph.adapters.avro import kernel
for name in ("scan_blocks", "decode", "hash_places"):
    print(name, "taken" if sum(getattr(kernel, name).stats.cache_hits.values()) else "compiled")
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept)}
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environment
    ).stdout


def test_damaged_compiled_code_is_rebuilt_once(tmp_path: Path) -> None:
    assert "taken" not in loaded(tmp_path)
    (index,) = tmp_path.rglob("*decode*.nbi")
    (code,) = tmp_path.rglob("*scan_blocks*.nbc")
    for damaged in (index, code):
        damaged.write_bytes(damaged.read_bytes()[:100])
    assert loaded(tmp_path).split() == ["scan_blocks", "compiled", "decode", "compiled", "hash_places", "taken"]
    assert "compiled" not in loaded(tmp_path)


def test_without_a_writable_package_compiled_code_is_in_the_cache_folder(tmp_path: Path) -> None:
    nowhere = tmp_path / "absent"
    assert compiled_code("/cache", nowhere, {}) == {"NUMBA_CACHE_DIR": "/cache/compiled"}
    assert compiled_code("", nowhere, {}) == {}
    assert compiled_code("/cache", tmp_path, {}) == {}
    assert compiled_code("/cache", nowhere, {"NUMBA_CACHE_DIR": "/own"}) == {}
