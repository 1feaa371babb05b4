"""Every error that Limnograph raises deliberately, in one tree.

LimnographError
├── InvalidInput(field)            the caller must change something      bad-request, exit 2
│   └── SettingsError(field)       ... in the settings file or environment
├── NotFound                       the thing named does not exist        not-found
├── Unauthenticated                no valid credentials                  unauthenticated
├── Forbidden                      authenticated, but not permitted      forbidden
├── TooManyRequests(retry_after)   come back later                       too-many-requests
├── Conflict                       another writer committed first        conflict
│   ├── NoteSuperseded(note)       ... and replaced the same note        conflict
│   ├── PlanMoved(plan)            ... and moved the plan on             conflict
│   ├── LeaseLost                  ... and took the table's lease        conflict
│   └── ActionConflict             ... so that an action failed          conflict
├── ActionCancelled                a user cancelled an action            conflict
├── EnvironmentFault               the machine lacks something           exit 2
├── SourceError(source)            an upstream source failed             source-failed
│   ├── SourceUnavailable          may be retried                        source-unavailable
│   ├── SourceTimeout              may be retried                        source-timeout
│   └── SourceRejected             the same request will fail again      source-rejected
└── MetadataError(code)            an observed table is damaged: a fact  metadata-damaged

`problem_type` is one of a closed set of RFC 9457 types; `api/wire/problems.py` alone maps it to an HTTP status.
Messages state what went wrong and what to do. Credentials are removed from them, quoted text included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from limnograph.domain.secrecy import clean

if TYPE_CHECKING:
    from limnograph.domain.answers.notes import TeamNote
    from limnograph.domain.facts.plans import PlanFact


class LimnographError(Exception):
    """Root of the tree. `str(error)` is one sentence, written for users."""

    problem_type: ClassVar[str] = "internal"


class InvalidInput(LimnographError):
    """An input value is invalid; `field` names it in the caller's terms."""

    problem_type = "bad-request"

    def __init__(self, field: str, detail: str) -> None:
        detail = clean(detail)
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


class SettingsError(InvalidInput):
    """A key of the settings file is unknown, missing or malformed; `field` is its dotted path."""

    def at(self, place: str) -> SettingsError:
        """The same error, prefixed with the file and line of the key."""
        found = SettingsError(self.field, self.detail)
        found.args = (f"{clean(place)}: {self.args[0]}",)
        return found


class NotFound(LimnographError):
    """The requested object does not exist."""

    problem_type = "not-found"


class Unauthenticated(LimnographError):
    """No credentials, or invalid ones. The message never says which part was wrong."""

    problem_type = "unauthenticated"


class Forbidden(LimnographError):
    """The caller is authenticated but lacks a scope, or the request is cross-site."""

    problem_type = "forbidden"


class TooManyRequests(LimnographError):
    """A limit on attempts or connections is reached; retry after `retry_after_s`."""

    problem_type = "too-many-requests"

    def __init__(self, detail: str, retry_after_s: int) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class Conflict(LimnographError):
    """A compare-and-set failed because the head moved. Read again and recompute the difference."""

    problem_type = "conflict"


class NoteSuperseded(Conflict):
    """Another user replaced the same event of a note first, or its key belongs to another note; `note` as it is now."""

    def __init__(self, detail: str, note: TeamNote) -> None:
        super().__init__(detail)
        self.note = note


class PlanMoved(Conflict):
    """A plan is no longer in the state that the caller saw; `plan`: its last transition, None if it is unknown."""

    def __init__(self, detail: str, plan: PlanFact | None) -> None:
        super().__init__(detail)
        self.plan = plan


class LeaseLost(Conflict):
    """The lease of a table has ended, or another executor holds it. Stop working on the table."""


class ActionConflict(Conflict):
    """Another writer committed first: nothing of the action is in the table."""


class ActionCancelled(LimnographError):
    """The action was cancelled before it ended. Some of its commits may be in the table."""

    problem_type = "conflict"


class EnvironmentFault(LimnographError):
    """The machine lacks something (Java, a port, a program). The message contains the remedy."""


class SourceError(LimnographError):
    """An upstream source (catalog, Prometheus, storage, engine) failed; `source` names it."""

    problem_type = "source-failed"

    def __init__(self, source: str, detail: str) -> None:
        detail = clean(detail)
        super().__init__(f"{source}: {detail}")
        self.source = source
        self.detail = detail


class SourceUnavailable(SourceError):
    """Refused, reset, 5xx, 429: a retry may help, after `retry_after_s` if that is known."""

    problem_type = "source-unavailable"

    def __init__(self, source: str, detail: str, retry_after_s: int | None = None) -> None:
        super().__init__(source, detail)
        self.retry_after_s = retry_after_s


class SourceTimeout(SourceError):
    """No complete response within the deadline: a retry may help."""

    problem_type = "source-timeout"


class SourceRejected(SourceError):
    """4xx, or a response that violates the protocol: the same request will fail again."""

    problem_type = "source-rejected"


class MetadataError(LimnographError):
    """An observed table's metadata is permanently damaged. It is recorded as a fact with `code` and never ends a
    program.
    """

    problem_type = "metadata-damaged"

    def __init__(self, code: str, detail: str) -> None:
        detail = clean(detail)
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
