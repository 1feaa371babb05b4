"""Runs the checks of an installation concurrently, each with its own time limit. Knows no source; the checks are in
`wiring/doctor/checks.py`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from limnograph.domain.errors import LimnographError

WITHIN_S = 10.0
SKEW_S = 5.0
"""With clocks further apart than this, commits and metrics of the same minute appear at different places."""

Health = Literal["ok", "warn", "fail"]


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one check. `remedy`: what to do, if anything."""

    name: str
    status: Health
    detail: str
    remedy: str | None = None
    seconds: float = 0.0


class CheckResult(NamedTuple):
    """The result of a check that did not fail; `remedy` makes it a warning."""

    detail: str
    remedy: str | None = None


class Check(NamedTuple):
    """`ask` blocks and raises LimnographError. `required`: Limnograph does not work without it."""

    name: str
    ask: Callable[[], CheckResult]
    remedy: str
    required: bool = True


def run(checks: Sequence[Check], within_s: float = WITHIN_S) -> list[CheckReport]:
    """Run the checks and report in their order; a check that takes longer than `within_s` has failed."""
    found: dict[str, CheckReport] = {}
    threads = [
        threading.Thread(target=lambda c=check: found.update({c.name: _asked(c)}), daemon=True) for check in checks
    ]
    deadline = time.monotonic() + within_s
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    return [found.get(check.name) or _failed(check, f"no response within {within_s:g} s", within_s) for check in checks]


def well(found: Sequence[CheckReport]) -> bool:
    """Whether no required check failed."""
    return all(finding.status != "fail" for finding in found)


def _asked(check: Check) -> CheckReport:
    started = time.monotonic()
    try:
        told = check.ask()
    except LimnographError as error:
        return _failed(check, str(error), time.monotonic() - started)
    except Exception as error:  # noqa: BLE001  # an exception of a driver is a result, not the end of the other checks
        return _failed(check, f"{type(error).__name__}: {str(error).strip()[:200]}", time.monotonic() - started)
    return CheckReport(
        name=check.name,
        status="warn" if told.remedy else "ok",
        detail=told.detail,
        remedy=told.remedy,
        seconds=time.monotonic() - started,
    )


def _failed(check: Check, detail: str, seconds: float) -> CheckReport:
    first = (detail.splitlines() or [""])[0]
    return CheckReport(
        name=check.name,
        status="fail" if check.required else "warn",
        detail=first,
        remedy=check.remedy,
        seconds=seconds,
    )


def age(seconds: float) -> str:
    """A duration in words."""
    for unit, width in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * width:
            return f"{seconds / width:.0f} {unit}"
    return f"{seconds:.0f} s"


def skewed(source: str, their_s: float, our_s: float) -> CheckResult:
    """The offset of a clock from this machine's."""
    apart = their_s - our_s
    detail = (
        f"{abs(apart):.0f} s {'ahead of' if apart > 0 else 'behind'} this machine" if abs(apart) >= 1 else "in sync"
    )
    remedy = f"synchronise the clocks of this machine and {source} (NTP)" if abs(apart) > SKEW_S else None
    return CheckResult(f"{source}: {detail}", remedy)
