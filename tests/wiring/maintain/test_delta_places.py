"""Names of tables without a catalog lead to their folders, and to nothing beside them."""

import pytest

from limnograph.adapters.delta.maintenance.store import DeltaPlace
from limnograph.domain.ids import TableName
from limnograph.settings import ObserveSettings, PathSettings, WarehouseSettings
from limnograph.wiring.maintain.delta_places import delta_place

OBSERVE = ObserveSettings(
    paths=(
        PathSettings(format="delta", name="landing.orders", location="/srv/orders", properties={"a": "b"}),
        PathSettings(format="hudi", name="landing.trips", location="/srv/trips"),
    ),
    warehouses=(
        WarehouseSettings(name="wh.eu", location="s3://bucket/wh/", properties={"s3.region": "eu"}),
        WarehouseSettings(name="ice", location="/srv/ice", format="iceberg"),
    ),
)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        (("files", "landing", "orders"), DeltaPlace("/srv/orders", {"a": "b"})),
        (("files", "wh.eu.sales", "or~dders"), DeltaPlace("s3://bucket/wh/sales/or.ders", {"s3.region": "eu"})),
        (("files", "wh.eu", "orders"), DeltaPlace("s3://bucket/wh/orders", {"s3.region": "eu"})),
        (("lake", "landing", "orders"), None),
        (("files", "landing", "trips"), None),
        (("files", "landing", "absent"), None),
        (("files", "ice", "orders"), None),
        (("files", "wh.eu", "~d~d"), None),
        (("files", "wh.eu.~d", "orders"), None),
        (("files", "wh.eu", "../../etc"), None),
        (("files", "wh.eu.~e", "orders"), None),
    ],
)
def test_a_name_leads_to_the_folder_that_the_settings_name(
    name: tuple[str, str, str], place: DeltaPlace | None
) -> None:
    assert delta_place(OBSERVE, TableName(*name)) == place
