"""Whether the policy lets a planned action run now, and the sentence that says so.

The checks run in the order of what a user has to do about them: first what never changes by waiting, then approval,
then what only takes time. The first one that does not pass decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

from limnograph.analysis.advice.planned import PlannedAction
from limnograph.analysis.advice.words import counted, lasting, money, size
from limnograph.analysis.maintenance.history import bytes_read
from limnograph.analysis.maintenance.hold_out import held_until
from limnograph.analysis.maintenance.limits import mode_of, rule_of, stricter
from limnograph.analysis.maintenance.windows import is_inside, next_start, window_text
from limnograph.domain.facts.plans import PlanFact
from limnograph.domain.ids import TableName
from limnograph.domain.maintenance.actions import DELETING, POLICY_ACTOR, PROCEDURES, REWRITING
from limnograph.domain.maintenance.leases import BudgetSpent, MaintenanceBreaker
from limnograph.domain.maintenance.policy import DAY_US, MaintenanceMode, MaintenancePolicy, PolicyRule
from limnograph.domain.time import MICROS_PER_SECOND, Micros, truncated

Verdict = Literal["run", "wait", "refuse", "advise"]
RATIO_US = 7 * DAY_US
"""Time over which rewritten bytes are added up."""


class ActionDecision(NamedTuple):
    """What the policy says about an action. `text`: a sentence for users.

    verdict   `run`; `wait` for time or a user; `refuse`: an approved plan that may not run and ends; `advise`: it is
              only recommended
    code      check that decided; `run` if all passed
    policy    name of the policy; None: none names the table
    retry_at  when it may be different; None: not by waiting
    """

    verdict: Verdict
    code: str
    text: str
    policy: str | None
    retry_at: Micros | None = None


class PlanApproval(NamedTuple):
    """Who proposed and approved a plan. None: not known."""

    approver: str | None
    approved_at: Micros | None
    proposer: str | None = None

    @property
    def is_by_user(self) -> bool:
        """Whether a person approved it, not a policy of mode `auto`."""
        return self.approver is not None and not self.approver.startswith(POLICY_ACTOR)


class DecisionFacts(NamedTuple):
    """Facts of a decision at `now`, by the clock of the database.

    plan            as the executor itself planned it
    approval        None: it is not approved
    not_before      of a queued plan
    live_bytes      of the table; None: not known
    spent           on the current UTC day
    history         transitions of the plans of this table, of the last 7 days at least
    breakers        that are open
    running         actions that run at present, on other tables
    unknown_streams whether a stream of unknown name reads the table; None: not known
    currency        of the predicted costs
    """

    policy: MaintenancePolicy
    name: TableName
    table_uuid: str
    now: Micros
    plan: PlannedAction
    approval: PlanApproval | None = None
    not_before: Micros | None = None
    live_bytes: int | None = None
    spent: BudgetSpent = BudgetSpent(day=0)
    history: Sequence[PlanFact] = ()
    breakers: Sequence[MaintenanceBreaker] = ()
    running: int = 0
    unknown_streams: bool | None = None
    currency: str = ""


class _Case(NamedTuple):
    """Facts with what follows from the policy alone."""

    facts: DecisionFacts
    rule: PolicyRule | None
    mode: MaintenanceMode
    who: str

    def answer(self, verdict: Verdict, code: str, text: str, retry_at: Micros | None = None) -> ActionDecision:
        return ActionDecision(verdict, code, text, self.rule.name if self.rule else None, retry_at)

    def never(self, code: str, text: str) -> ActionDecision:
        """The end of an approved plan; otherwise a recommendation."""
        return self.answer("advise" if self.facts.approval is None else "refuse", code, text)


_Check = Callable[[_Case], ActionDecision | None]


def decide(facts: DecisionFacts) -> ActionDecision:
    """The decision. Deterministic. O(history + breakers)."""
    case = _case(facts)
    found = next((answer for check in _CHECKS if (answer := check(case)) is not None), None)
    return found or case.answer("run", "run", f"{case.who} runs it: {_approved_by(case)}.")


def decisions(facts: DecisionFacts) -> Iterator[ActionDecision]:
    """Everything that stands against an action, for `--dry-run`; nothing if it would run."""
    case = _case(facts)
    yield from (answer for check in _CHECKS if (answer := check(case)) is not None)


def _case(facts: DecisionFacts) -> _Case:
    rule = rule_of(facts.policy, facts.name)
    mode = mode_of(facts.policy, rule, facts.plan.action)
    if mode == "auto" and _may_need(facts):
        mode = stricter(mode, "approve")  # a stream of unknown position may need what is deleted
    return _Case(facts, rule, mode, f'"{rule.name}"' if rule else "No policy")


def _may_need(facts: DecisionFacts) -> bool:
    """Whether a stream of unknown position may need what the action deletes: old snapshots."""
    return facts.plan.action in {"expire_snapshots", "vacuum"} and facts.unknown_streams is not False


def _approved_by(case: _Case) -> str:
    approval = case.facts.approval
    if approval is not None and approval.is_by_user:
        return f"{approval.approver} approved it"
    return 'its mode is "auto"'


def _named(case: _Case) -> ActionDecision | None:
    if case.rule is None:
        text = f"No policy names {case.facts.name}: its plans are only recommended."
        return case.never("no_policy", text)
    return None


def _executed(case: _Case) -> ActionDecision | None:
    plan = case.facts.plan
    if PROCEDURES.get(plan.rule) == plan.action:
        return None
    return case.never("advice_only", f"Plans of the rule {plan.rule} are only recommended, never executed.")


def _permitted(case: _Case) -> ActionDecision | None:
    plan, rule = case.facts.plan, case.rule
    if rule is None or rule.actions is None or {plan.rule, plan.action} & rule.actions:
        return None
    allowed = ", ".join(sorted(rule.actions)) or "none"
    return case.never("action", f"{case.who} does not permit {plan.action}; its actions: {allowed}.")


def _held(case: _Case) -> ActionDecision | None:
    if case.rule is None or not case.rule.hold or case.facts.plan.action not in DELETING:
        return None
    return case.never("hold", f"{case.who} is a legal hold: nothing expires, and no file is deleted.")


def _mode(case: _Case) -> ActionDecision | None:
    if case.mode in {"off", "advise"}:
        return case.never(
            "mode", f'{case.who} has mode "{case.mode}" for {case.facts.plan.action}: it is not executed.'
        )
    return None


def _payback(case: _Case) -> ActionDecision | None:
    rule, days = case.rule, case.facts.plan.value.payback_days
    if rule is None or rule.min_payback_days is None or days is None or not rule.worth.paying:
        return None
    if days <= rule.min_payback_days:
        return None
    text = f"It pays back in {days:,.0f} days; {case.who} wants at most {rule.min_payback_days:,.0f}."
    return case.never("payback", text)


def _approved(case: _Case) -> ActionDecision | None:
    approval = case.facts.approval
    if case.mode == "auto" or (approval is not None and approval.is_by_user):
        return None
    if approval is not None:
        return case.never("approval", f"A policy approved it, but now {case.who} needs the approval of a user.")
    why = "; a stream whose position is unknown may need what it deletes" if _may_need(case.facts) else ""
    return case.answer("wait", "approval", f"It waits for the approval of a user{why}.")


def _approval_age(case: _Case) -> ActionDecision | None:
    approval, facts = case.facts.approval, case.facts
    if approval is None or not approval.is_by_user:
        return None
    if approval.approved_at is None:
        return case.never("approval_expired", "When it was approved is not known: propose it again.")
    if facts.now - approval.approved_at <= facts.policy.expires_after_us:
        return None
    age = _lasting(facts.policy.expires_after_us)
    return case.never("approval_expired", f"It was approved more than {age} ago: propose it again.")


def _two_people(case: _Case) -> ActionDecision | None:
    approval = case.facts.approval
    if not case.facts.policy.two_people or approval is None or not approval.is_by_user:
        return None
    if approval.proposer is None:
        return case.never("two_people", "Who proposed it is not known, and the policy needs two users.")
    if approval.proposer != approval.approver:
        return None
    text = f"{approval.approver} proposed and approved it; the policy needs two users."
    return case.never("two_people", text)


def _breaker(case: _Case) -> ActionDecision | None:
    facts = case.facts
    subjects = {"table": facts.table_uuid, "action": facts.plan.action, "rule": facts.plan.rule, "fleet": ""}
    for breaker in facts.breakers:
        is_half_open = breaker.half_open_at is not None and breaker.half_open_at <= facts.now
        if subjects.get(breaker.scope) == breaker.subject and not is_half_open:
            code = f"breaker_{breaker.code}"
            if breaker.scope == "rule":  # demoted to a recommendation
                return case.never(code, breaker.text)
            return case.answer("wait", code, breaker.text, breaker.half_open_at)
    return None


def _backoff(case: _Case) -> ActionDecision | None:
    at = case.facts.not_before
    if at is None or at <= case.facts.now:
        return None
    text = f"It is retried in {_lasting(at - case.facts.now)}, because another writer committed first."
    return case.answer("wait", "backoff", text, at)


def _held_out(case: _Case) -> ActionDecision | None:
    approval = case.facts.approval
    if case.rule is None or (approval is not None and approval.is_by_user):
        return None  # what a user approved is not due by chance
    until = held_until(case.facts.table_uuid, case.rule.hold_out, case.facts.now)
    if until is None:
        return None
    text = (
        f"The table is in the control group of {case.who} ({case.rule.hold_out:.0%} of the tables), so that effects "
        f"can be compared: it waits for {_lasting(until - case.facts.now)}."
    )
    return case.answer("wait", "control_group", text, until)


def _window(case: _Case) -> ActionDecision | None:
    facts, rule = case.facts, case.rule
    windows = facts.policy.windows if rule is None or rule.windows is None else rule.windows
    if is_inside(windows, facts.now):
        return None
    start = next_start(windows, facts.now)
    text = f"{case.who} starts actions in {', '.join(map(window_text, windows))} only"
    later = "" if start is None else f": in {_lasting(start - facts.now)}"
    return case.answer("wait", "window", f"{text}{later}.", start)


def _ratio(case: _Case) -> ActionDecision | None:
    facts, rule = case.facts, case.rule
    if rule is None or facts.plan.action not in REWRITING:
        return None
    adds = facts.plan.predicted.bytes_in
    if not facts.live_bytes or adds is None:
        return case.never("rewrite_ratio", "The bytes of the table are not known, so its rewrites cannot be limited.")
    most = rule.max_rewrite_ratio * facts.live_bytes
    if adds > most:
        text = (
            f"It rewrites {adds / facts.live_bytes:.1f} times the table; {case.who} permits {rule.max_rewrite_ratio:g}."
        )
        return case.never("rewrite_ratio", text)
    since = facts.now - RATIO_US
    recent = [each for each in bytes_read(facts.history) if each.action in REWRITING and (each.at or 0) >= since]
    done = sum(_rewritten(each) for each in recent)
    if done + adds <= most:
        return None
    text = (
        f"{size(done)} were rewritten within 7 days; with this plan it would be {(done + adds) / facts.live_bytes:.1f} "
        f"times the table, and {case.who} permits {rule.max_rewrite_ratio:g}."
    )
    return case.answer("wait", "rewrite_ratio", text, Micros(min(each.at or 0 for each in recent) + RATIO_US))


def _rewritten(fact: PlanFact) -> int:
    """Bytes that a plan rewrote; what it was to rewrite while that is not known."""
    return (fact.bytes_in or 0) if fact.result_bytes_in is None else fact.result_bytes_in


def _budget(case: _Case) -> ActionDecision | None:
    facts, predicted = case.facts, case.facts.plan.predicted
    adds = (predicted.bytes_in or 0) if facts.plan.action in REWRITING else 0
    cost = predicted.cost.mid if predicted.cost else 0.0
    if predicted.cost is None and facts.plan.action in REWRITING and facts.policy.max_cost_per_day is not None:
        return case.never("budget", "Its cost is not known, and the policy limits the cost of a day.")
    limits = (
        (facts.policy.bytes_per_day, facts.spent.bytes, adds, size),
        (facts.policy.max_cost_per_day, facts.spent.cost, cost, lambda amount: money(amount, facts.currency)),
    )
    for most, spent, more, text in limits:
        if most is None or spent + more <= most:
            continue
        if more > most:
            return case.never("budget", f"It needs {text(more)}, more than the budget of a whole day, {text(most)}.")
        tomorrow = Micros(truncated(facts.now, DAY_US) + DAY_US)
        said = f"{text(spent)} of today's {text(most)} are spent, and it needs {text(more)}"
        return case.answer("wait", "budget", f"{said}: it waits for the next day.", tomorrow)
    return None


def _concurrent(case: _Case) -> ActionDecision | None:
    running, most = case.facts.running, case.facts.policy.concurrent
    if running < most:
        return None
    text = f"{counted(running, 'action')} {'runs' if running == 1 else 'run'} already; the policy permits {most}."
    return case.answer("wait", "concurrent", text)


def _lasting(duration_us: int) -> str:
    return lasting(duration_us / MICROS_PER_SECOND)


_CHECKS: Sequence[_Check] = (
    *(_named, _executed, _permitted, _held, _mode, _payback),
    *(_approval_age, _two_people, _approved, _breaker, _backoff, _held_out, _window, _ratio, _budget, _concurrent),
)
