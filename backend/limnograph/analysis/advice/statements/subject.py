"""The table that a statement addresses, and the result: one text per engine, or the reason why there is none. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from limnograph.domain.advice.document import StatementTexts

SPARK, TRINO, PYTHON = "spark", "trino", "python"


class NoStatement(Exception):
    """An engine cannot do it, or a name or value cannot be written safely. `str(error)`: the reason, one sentence."""


class StatementTable(NamedTuple):
    """A table by its names, as the catalog spells them.

    catalog        name of the catalog in Spark and PyIceberg; None: a location that is read without a catalog
    namespace      its levels, outermost first
    table          None: as `catalog`
    location       root of the table's files
    trino_catalog  name of the catalog in Trino (`[trino] catalogs`); None: the same name
    """

    catalog: str | None
    namespace: tuple[str, ...]
    table: str | None
    location: str
    trino_catalog: str | None = None

    @property
    def path(self) -> tuple[str, ...]:
        """Catalog, namespace and table. Raises NoStatement: there is no catalog."""
        if self.catalog is None or self.table is None:
            raise NoStatement("The table was read from a location: statements address an Iceberg table by its catalog.")
        return (self.catalog, *self.namespace, self.table)


class StatementResult(NamedTuple):
    """The statements of one action. `where`: Spark's condition that selects exactly the plan's partitions; None: the
    whole table, or no condition can be written. `notes`: why an engine has no statement, or what its statement does
    not do.
    """

    statements: StatementTexts
    where: str | None
    notes: dict[str, str]


Write = Callable[[], str]
"""Writes the text of one engine, or raises NoStatement."""


def result(spark: Write, trino: Write, python: Write, where: Write | None = None) -> StatementResult:
    """The texts of all engines that have one, and the reasons of those that do not."""
    texts: dict[str, str | None] = {}
    notes: dict[str, str] = {}
    for engine, write in ((SPARK, spark), (TRINO, trino), (PYTHON, python)):
        try:
            texts[engine] = write()
        except NoStatement as reason:
            texts[engine] = None
            notes[engine] = str(reason)
    return StatementResult(StatementTexts(**texts), None if where is None else _exact(where), notes)


def _exact(where: Write) -> str | None:
    """Spark's condition, also where the statement around it cannot be written: a location has no catalog."""
    try:
        return where()
    except NoStatement:
        return None


def listed_first(mark: str, listing: str, removal: str) -> str:
    """A text that lists what would be deleted. The deletion is commented out with `mark`."""
    commented = "\n".join(f"{mark} {line}" for line in removal.splitlines())
    return (
        f"{mark} Lists the files and deletes nothing:\n{listing}\n"
        f"{mark} Check the list. Then remove the comment marks to delete the files:\n{commented}"
    )


def nothing(reason: str) -> Write:
    """The writer of an engine that has no statement for the action."""

    def write() -> str:
        raise NoStatement(reason)

    return write
