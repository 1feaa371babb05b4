"""`limnograph token`: create, list and revoke API tokens for programs and users, on the server's machine."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import click

from limnograph.domain.access import SCOPES, AuditEvent, TokenRecord
from limnograph.domain.errors import InvalidInput
from limnograph.domain.time import MICROS_PER_SECOND, Micros
from limnograph.settings import CONFIG_ENV, Settings, load

_EPILOG = "\b\nExample:\n  limnograph token create alertmanager --scope webhook --expires 365d"
_config = click.option("--config", type=click.Path(dir_okay=False), help=f"Settings file; default ${CONFIG_ENV}.")
_UNITS = {"m": 60, "h": 3_600, "d": 86_400}
_LONGEST_DAYS = 3_660


@click.group(help="Create, list and revoke API tokens.", epilog=_EPILOG)
def command() -> None:
    """One verb per action."""


@command.command("create", help="Create a token and print it once.", epilog=_EPILOG)
@click.argument("name")
@click.option("--scope", "scopes", required=True, help=f"Comma-separated scopes: {', '.join(SCOPES)}.")
@click.option("--expires", help="Expiry: 90d, 12h or 30m from now, or a date such as 2027-01-31; default never.")
@_config
def create(name: str, scopes: str, expires: str | None, config: str | None) -> None:
    """Print only the token on stdout, so that a script can capture it."""
    from limnograph.adapters.system_clock import SystemClock
    from limnograph.wiring.access import tokens

    settings = load(config)
    ends = None if expires is None else expiry(expires, SystemClock().now())
    token, record = tokens(settings).create(name, [part.strip() for part in scopes.split(",") if part.strip()], ends)
    _told(settings, "token create", record)
    click.echo(token)
    click.echo(f"{name}: {', '.join(record.scopes)}. The token is shown only once; only its hash is stored.", err=True)
    if settings.auth.mode == "none":
        click.echo('auth.mode is "none": set auth.mode = "tokens" to require tokens.', err=True)


@command.command("list", help="List tokens with their scopes and expiry, never the tokens themselves.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON array.")
@_config
def listed(*, as_json: bool, config: str | None) -> None:
    """Oldest first."""
    from limnograph.adapters.system_clock import SystemClock
    from limnograph.wiring.access import tokens

    rows = [_row(record, SystemClock().now()) for record in tokens(load(config)).records()]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        ends = row["expires_at"] or "never"
        scopes = ",".join(row["scopes"])
        click.echo(f"{row['id']}  {row['name']:24} {scopes:24} {row['status']:8} expires {ends}")


@command.command("revoke", help="Revoke a token by name or id. Running servers reject it within a second.")
@click.argument("token")
@_config
def revoke(token: str, config: str | None) -> None:
    """Its sessions end as well."""
    from limnograph.wiring.access import tokens

    settings = load(config)
    record = tokens(settings).revoke(token)
    _told(settings, "token revoke", record)
    click.echo(f"{record.name} ({record.id}) has been revoked", err=True)


def expiry(text: str, now: Micros) -> Micros:
    """Parse `90d`, `12h`, `30m` or a date (its first instant, UTC) into epoch microseconds. Raises InvalidInput."""
    if found := re.fullmatch(r"(\d{1,6})([mhd])", text):
        seconds = int(found[1]) * _UNITS[found[2]]
        if 0 < seconds <= _LONGEST_DAYS * _UNITS["d"]:
            return now + seconds * MICROS_PER_SECOND
        raise InvalidInput("--expires", f"must be between one minute and {_LONGEST_DAYS} days from now")
    try:
        return Micros(int(datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()) * MICROS_PER_SECOND)
    except ValueError as error:
        raise InvalidInput(
            "--expires", f"{text!r} is neither a duration such as 90d, 12h or 30m nor a date such as 2027-01-31"
        ) from error


def _row(record: TokenRecord, now: Micros) -> dict[str, Any]:
    status = "revoked" if record.revoked_at is not None else "valid" if record.valid(now) else "expired"
    return {
        "id": record.id,
        "name": record.name,
        "scopes": list(record.scopes),
        "status": status,
        "created_at": _instant(record.created_at),
        "expires_at": _instant(record.expires_at),
    }


def _instant(at: int | None) -> str | None:
    if at is None:
        return None
    return datetime.fromtimestamp(at // MICROS_PER_SECOND, UTC).isoformat().replace("+00:00", "Z")


def _told(settings: Settings, what: str, record: TokenRecord) -> None:
    import getpass

    from limnograph.wiring.access import audit

    at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    detail = f"{record.id} {record.name} {','.join(record.scopes)}"
    audit(settings).write(AuditEvent(at=at, who=getpass.getuser(), what=what, outcome="ok", detail=detail))
