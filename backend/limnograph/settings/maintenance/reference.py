"""Generates `docs/maintenance-settings.md`: `python -m limnograph.settings.maintenance.reference`. CI compares it with
the file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from limnograph.settings.base import FrozenSettings
from limnograph.settings.maintenance.examples import EXAMPLES
from limnograph.settings.maintenance.sections import MaintenanceSettings, PolicySettings
from limnograph.settings.reference import below, described, meanings

INTRODUCTION = """# Settings of maintenance

Generated from `backend/limnograph/settings/maintenance`: change it there, then run `make types`.

`limnograph maintain --maintenance FILE` executes plans on observed tables ([maintenance](maintenance.md)). It changes
nothing unless its own file permits it. The server never reads this file and needs no credential that can write; a
section `[maintenance]` in the settings file is an error.

- **Settings**: catalogs, meta tables, inbox and prices come from `--config FILE`, or from the file that
  `LIMNOGRAPH_CONFIG` names. Without either, the maintenance file may contain the sections of the
  [settings](settings.md) itself.
- **Credentials**: `${NAME}` and keys that end in `_file` work as in the settings. Keep this file readable only for the
  user that runs `limnograph maintain`.
- **Durations** are whole numbers with `s`, `m`, `h`, `d` or `w`; **sizes** are numbers with `B`, `KiB`, `MiB`, `GiB` or
  `TiB`; **windows** are parts of the day in UTC and may cross midnight. A window limits when an action starts.
- **Floors** hold whatever the file says: snapshots of the last 24 hours and the two newest ones of each branch never
  expire, and files younger than 3 days are never removed. A lower value is an error that names the floor.
- An unknown key or action, or a pattern for a catalog that does not exist, is an error that names file, line and key: a
  legal hold with a typing error must not be silent.

Together, the examples below form one maintenance file, which a test loads.
"""


def document() -> str:
    """The whole page as Markdown. Raises LookupError for a setting without a docstring."""
    return "\n".join((INTRODUCTION, *_sections()))


def sections() -> Iterator[tuple[str, type[FrozenSettings] | str]]:
    """Headings in TOML syntax with their structs, or with the text of a section with arbitrary keys."""
    own = meanings(MaintenanceSettings)
    yield "[maintenance]", MaintenanceSettings
    yield "[maintenance.spark]", own["spark"]
    yield "[maintenance.catalogs.NAME]", own["catalogs"]
    yield "[[maintenance.policy]]", PolicySettings
    yield from below("maintenance.policy", PolicySettings)


def _sections() -> Iterator[str]:
    for name, struct in sections():
        hidden = frozenset({"spark", "catalogs"}) if struct is MaintenanceSettings else frozenset[str]()
        yield described(name, struct, EXAMPLES[name], hidden)


if __name__ == "__main__":
    sys.stdout.write(document())
