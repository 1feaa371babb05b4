"""Which plan an operation belongs to."""

import pytest

from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.services.effects.promises import OperationPlans

AT = Micros(1_790_000_000_000_000)
MINUTE = 60 * MICROS_PER_SECOND


def expiry(plan_id: str, base: str | None, minutes: int = 0) -> PlanFact:
    """A verified expiry that began from a metadata file."""
    return PlanFact(
        plan_id=plan_id,
        seq=7,
        state="verified",
        table_uuid="u",
        action="expire_snapshots",
        at=Micros(AT + minutes * MINUTE),
        base_metadata_location=base,
    )


def owner(plans: OperationPlans, metadata: str, minutes: int = 0) -> str | None:
    found = plans.of("u", f"expired:{metadata}", Micros(AT + minutes * MINUTE))
    return None if found is None else found.plan_id


@pytest.mark.parametrize("name", ["{:05d}-5a1f.metadata.json", "v{}.metadata.json", "v{}.gz.metadata.json"])
def test_an_expiry_before_the_metadata_of_a_plan_was_someone_elses(name: str) -> None:
    plans = OperationPlans([expiry("p1", f"s3://x/t/metadata/{name.format(12)}")])
    assert owner(plans, f"s3://x/t/metadata/{name.format(13)}", -2) == "p1"
    assert owner(plans, f"s3://x/t/metadata/{name.format(12)}", -2) is None, "the plan began from its result"
    assert owner(plans, f"s3://x/t/metadata/{name.format(9)}", -50) is None


def test_of_two_plans_the_one_that_could_have_made_it_is_found() -> None:
    first, second = expiry("p1", "s3://x/00003-a.metadata.json"), expiry("p2", "s3://x/00008-b.metadata.json", 20)
    plans = OperationPlans([first, second])
    assert owner(plans, "s3://x/00005-c.metadata.json", 12) is None, "too late for one, too early for the other"
    assert owner(plans, "s3://x/00004-c.metadata.json", -1) == "p1"
    assert owner(plans, "s3://x/00009-c.metadata.json", 19) == "p2"


def test_without_a_number_time_alone_decides() -> None:
    plans = OperationPlans([expiry("p1", None)])
    assert owner(plans, "s3://x/00004-c.metadata.json", -1) == "p1"
    assert owner(OperationPlans([expiry("p1", "s3://x/12.json")]), "s3://x/odd", -1) == "p1"
    assert owner(plans, "s3://x/00004-c.metadata.json", 6) is None
