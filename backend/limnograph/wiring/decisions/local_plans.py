"""Decisions on plans from the command line, by the rights of the state folder."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import NamedTuple

from limnograph.adapters.inbox.plan_states import SqlPlanStates
from limnograph.adapters.inbox.store import SqlInbox
from limnograph.domain.access import AuditEvent, actor_of
from limnograph.domain.advice.plans import PlanCaller
from limnograph.domain.errors import Forbidden, LimnographError
from limnograph.ports.access import AuditLog
from limnograph.services.advice.board import AdviceBoard
from limnograph.services.advice.plan_pages import PlanPages, PlanSources
from limnograph.services.plans.desk import PlanDesk
from limnograph.services.plans.history import PlanHistory
from limnograph.services.plans.plan_records import PlanRecords
from limnograph.services.plans.watch import PlanWatch
from limnograph.settings import Settings
from limnograph.wiring.access import audit
from limnograph.wiring.watching import embedded_engine


class LocalPlans(NamedTuple):
    """The plans of an installation, for a user of its machine."""

    desk: PlanDesk
    pages: PlanPages
    caller: PlanCaller
    log: AuditLog

    @contextmanager
    def audited(self, what: str, detail: str) -> Iterator[None]:
        """Record a decision and its outcome in the audit log."""
        outcome = "ok"
        try:
            yield
        except LimnographError as error:
            outcome = error.problem_type
            raise
        finally:
            at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            self.log.write(AuditEvent(at=at, who=self.caller.actor, what=what, outcome=outcome, detail=detail))


def local_plans(settings: Settings) -> LocalPlans:
    """Plans in the inbox's database of the settings. Opens no connection yet."""
    inbox, engine = SqlInbox(settings.inbox_url), embedded_engine(settings)
    records = PlanRecords(inbox, engine)
    desk = PlanDesk(SqlPlanStates(inbox.database), lambda: records.newest().values())
    sources = PlanSources(desk, PlanHistory(inbox, engine), AdviceBoard, PlanWatch(desk, inbox))
    state = settings.state_dir
    may = os.access(state if state.exists() else state.parent, os.W_OK)
    caller = PlanCaller(actor=_user(), may_propose=may, may_approve=may)
    return LocalPlans(desk, PlanPages(sources), caller, audit(settings))


def check_rights(plans: LocalPlans, settings: Settings) -> None:
    """Raises Forbidden if the user may not write into the state folder: then the server's files are not theirs."""
    if not plans.caller.may_approve:
        raise Forbidden(
            f"{plans.caller.actor} may not write into {settings.state_dir}; run the command as the user of the server, "
            "on its machine"
        )


def _user() -> str:
    """Name of the user of this process. `getpass.getuser` believes the environment."""
    uid = os.getuid()
    try:
        name = pwd.getpwuid(uid).pw_name
        return actor_of(name)
    except KeyError:
        return f"uid:{uid}"
    except Forbidden:  # an account such as `limnograph`
        return f"os:{name}"
