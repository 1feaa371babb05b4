"""Restricts the state folder to its owner when a program starts, even if an older version or a user created it with
wider permissions.
"""

from __future__ import annotations

from limnograph.adapters import private_files
from limnograph.settings import Settings


def private_state(settings: Settings) -> None:
    """Create the folder, or tighten its permissions and those of everything in it, which is logged. A failure is
    ignored here; the first use of a file in the folder reports it.
    """
    try:
        private_files.make_folder(settings.state_dir)
    except OSError:
        return
    private_files.tighten_below(settings.state_dir)
