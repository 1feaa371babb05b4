"""What `make test-stack` needs lies in .tools/stack since set-up; nothing here asks a network."""

from __future__ import annotations

from pathlib import Path

import pytest

STACK = Path(__file__).parents[2] / ".tools" / "stack"


@pytest.fixture(scope="session")
def stack() -> Path:
    """Folder of the installed programs, one folder each."""
    if not (STACK / ".stamp").exists():
        pytest.fail("the programs of the stack are missing; run `make stack`")
    return STACK
