"""The daily DAG of the lakehouse: sources to bronze, silver, gold and features."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from lakehouse.bronze import append
from lakehouse.bronze.tables import CDC, CLICKS, PARTNERS, RATES, create_tables
from lakehouse.gold.features import USER_FEATURES, append_features
from lakehouse.gold.revenue import REVENUE, write_revenue
from lakehouse.parts.dag import HttpRunListener, LakeDag, LakeTask, TaskResult, dataset
from lakehouse.parts.lake import Lake
from lakehouse.silver.masks import lineage
from lakehouse.silver.merge import COLUMNS, layout, merge_changes
from lakehouse.silver.sessions import SESSIONS, write_sessions
from lakehouse.sources.clicks import append_clicks as more_clicks
from lakehouse.sources.partners import partner_files
from lakehouse.sources.rates import RatesApi
from lakehouse.sources.shop import Shop

CUSTOMERS, USERS = 60, 40
ORDERS, CLICKS_A_DAY, PARTNER_ROWS = 400, 300, 20
START = datetime(2026, 5, 1, tzinfo=UTC)


class Medallion:
    """The sources and the jobs over them. A day of clicks is generated at each run, whatever the clock says."""

    def __init__(self, lake: Lake, api: RatesApi) -> None:
        self.lake, self.api = lake, api
        self.shop = Shop(lake.shop)
        self.log = lake.places.click_log
        self.landed: tuple[str, ...] = ()
        self.days = 0

    def open(self) -> None:
        """Create the tables of bronze, and the shop with its customers."""
        create_tables(self.lake)
        self.shop.open(CUSTOMERS)

    def next_day(self) -> None:
        """What happens outside of the lakehouse within a day."""
        self.shop.trade(ORDERS, CUSTOMERS)
        day = START + timedelta(days=self.days)
        more_clicks(self.log, CLICKS_A_DAY, USERS, day, seed=self.days)
        files = partner_files(str(day.date()), PARTNER_ROWS)
        append.land_files(self.lake, files)
        self.landed = (*self.landed, *files)
        self.days += 1

    def run(self) -> dict[str, TaskResult]:
        """One run of the DAG."""
        listener = HttpRunListener(self.lake.places.server)
        return LakeDag("lakehouse.daily", listener, self.lake.snapshot).run(self.tasks())

    def tasks(self) -> list[LakeTask]:
        """The DAG."""
        lake, now = self.lake, START + timedelta(days=self.days)
        silver = [
            LakeTask(
                f"silver.{name}",
                lambda name=name: merge_changes(lake, name),
                needs=("bronze.cdc",),
                reads=(CDC.name,),
                writes=(layout(name).name,),
                columns=lineage(columns, dataset(CDC.name)),
            )
            for name, columns in COLUMNS.items()
        ]
        return [
            LakeTask("bronze.cdc", lambda: append.append_changes(lake), reads=("shop.public",), writes=(CDC.name,)),
            LakeTask(
                "bronze.clicks",
                lambda: append.append_clicks(lake, self.log),
                reads=("clicks",),
                writes=(CLICKS.name,),
            ),
            LakeTask(
                "bronze.partners",
                lambda: append.append_partners(lake, self.landed),
                reads=("landing",),
                writes=(PARTNERS.name,),
            ),
            LakeTask(
                "bronze.rates",
                lambda: append.append_rates(lake, self.api.url),
                reads=("rates",),
                writes=(RATES.name,),
            ),
            *silver,
            LakeTask(
                "silver.sessions",
                lambda: write_sessions(lake),
                needs=("bronze.clicks",),
                reads=(CLICKS.name,),
                writes=(SESSIONS.name,),
            ),
            LakeTask(
                "gold.daily_revenue",
                lambda: write_revenue(lake),
                needs=("silver.customers", "silver.orders"),
                reads=(layout("customers").name, layout("orders").name),
                writes=(REVENUE.name,),
            ),
            LakeTask(
                "gold.user_features",
                lambda: append_features(lake, now),
                needs=("bronze.clicks",),
                reads=(CLICKS.name,),
                writes=(USER_FEATURES.name,),
            ),
        ]
