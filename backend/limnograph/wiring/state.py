"""The state folder of an installation at the start of a program: for its owner alone, also where an older version or a
hand made it otherwise.
"""

from __future__ import annotations

from limnograph.adapters import private_files
from limnograph.settings import Settings


def private_state(settings: Settings) -> None:
    """Make the folder or tighten it with all that is in it; the log says what was open. What cannot be made is not an
    error here: whoever needs a file of it says so.
    """
    try:
        private_files.make_folder(settings.state_dir)
    except OSError:
        return
    private_files.tighten_below(settings.state_dir)
