"""Access by tier of personal data, in Trino: masked columns, filtered rows, and a refusal in Trino's own words."""

from __future__ import annotations

from typing import Any

from lakehouse.access.tiers import ANALYST, ENGINEER, FILTERS, SHOWN
from lakehouse.bronze.tables import CDC, CLICKS
from lakehouse.check.observer import awaited
from lakehouse.check.scenario import ScenarioLog
from lakehouse.check.world import ScenarioWorld
from lakehouse.engines import trino_connection
from lakehouse.gold.revenue import REVENUE
from lakehouse.silver.merge import layout

CUSTOMERS = layout("customers").name
DENIED = "Access Denied: Cannot select from table"


class AccessByTier:
    """The same queries by two users."""

    def __init__(self, world: ScenarioWorld) -> None:
        self._world = world

    def _ask(self, user: str, statement: str) -> list[Any]:
        with trino_connection(self._world.lake.places, user) as connection:
            cursor = connection.cursor()
            cursor.execute(statement)
            return list(cursor.fetchall())

    def _refusal(self, user: str, statement: str) -> str:
        """The sentence with which Trino refuses; empty if it does not."""
        import trino

        try:
            self._ask(user, statement)
        except trino.exceptions.TrinoUserError as refused:
            return str(refused.message)
        return ""

    def happen(self, log: ScenarioLog) -> None:
        """Tier by tier, what an analyst sees of what an engineer sees."""
        for table, column in ((CUSTOMERS, "email_hash"), (CLICKS.name, "user_id")):
            self._hides(log, table, column)
        shown = {row[0] for row in self._ask(ANALYST, f"select email_hash from {CUSTOMERS}")}
        filtered = f"select email_hash from {CUSTOMERS} where {FILTERS['customers']}"
        whole = {row[0] for row in self._ask(ENGINEER, filtered)}
        log.equal("a hash is cut to its first characters", shown, {value[:SHOWN] for value in whole})
        log.equal("no user id is shown", self._ask(ANALYST, f"select distinct user_id from {CLICKS.name}"), [[None]])
        revenue = f"select * from {REVENUE.name} order by 1, 2"
        log.equal("gold is the same for both", self._ask(ANALYST, revenue), self._ask(ENGINEER, revenue))
        for name, statement, sentence in (
            ("raw", f"select count(*) from {CDC.name}", DENIED),
            ("write", f"delete from {REVENUE.name}", "Access Denied: Cannot delete from table"),
        ):
            said = self._refusal(ANALYST, statement)
            log.claim(f"Trino refuses an analyst: {statement}", said.startswith(sentence), said)
            log.figures[f"refusal_{name}"] = said
        log.equal("an engineer may read it", self._refusal(ENGINEER, f"select count(*) from {CDC.name}"), "")

    def _hides(self, log: ScenarioLog, table: str, column: str) -> None:
        name = table.rpartition(".")[2]
        count = f"select count(*) from {table}"
        (seen,), (permitted,) = self._ask(ANALYST, count)[0], self._ask(ENGINEER, f"{count} where {FILTERS[name]}")[0]
        every = self._ask(ENGINEER, count)[0][0]
        log.equal(f"an analyst sees the rows of {table} that the filter passes", seen, permitted)
        log.claim("which are some, and not all", 0 < seen < every, (seen, every))
        log.figures[table] = {"rows": every, "rows_for_analyst": seen, "masked": column}

    def observe(self, log: ScenarioLog) -> None:
        """The page Reads names both users."""
        users = awaited(self._users)
        log.claim("the page Reads names who read customers", users, users)

    def _users(self) -> Any:
        readers = self._world.observer.table(CUSTOMERS, "/reads").get("readers", ())
        found = {user["user"] for each in readers if each["engine"] == "trino" for user in each["users"]}
        return found if {ENGINEER, ANALYST} <= found else None
