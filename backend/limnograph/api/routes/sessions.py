"""Login and logout: a token or an OpenID Connect login is exchanged for a cookie; the requested link survives it."""

from __future__ import annotations

import html
from pathlib import Path
from typing import Annotated, Any, Literal, cast
from urllib.parse import quote, urlencode

import msgspec
from litestar import Request, Response, delete, get, post
from litestar.datastructures import Cookie
from litestar.exceptions import NotFoundException
from litestar.params import FromPath, QueryParameter

from limnograph.api.front.bodies import parsed
from limnograph.api.front.gate import Authenticator, Credentials, Headers, peer
from limnograph.api.wire.access import OPEN
from limnograph.api.wire.problems import documented, now_text
from limnograph.api.wire.views import SessionIn, SessionView
from limnograph.domain.access import AuditEvent, Identity, granted, return_path
from limnograph.domain.errors import Forbidden, InvalidInput, LimnographError, Unauthenticated
from limnograph.domain.time import MICROS_PER_SECOND
from limnograph.ports.access import IdentityProvider, LoginStart

AnyRequest = Request[Any, Any, Any]
_FOLDER = Path(__file__).parent / "_login"
_MIME = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_FILES = {file.name: file.read_bytes() for file in sorted(_FOLDER.iterdir()) if file.suffix[1:] in _MIME}
_STATE_COOKIE = "limnograph-login"
_STATE_S = 600
_LARGEST_CODE = 4_096
_PLAIN_IN_URLS = "%/:?#[]@!$&'()*+,;=~"
Next = Annotated[str, QueryParameter(name="next", description="Path of this server to redirect to afterwards.")]

Code = Annotated[str | None, QueryParameter(name="code", description="Authorization code from the provider.")]
Failure = Annotated[str | None, QueryParameter(name="error", description="Error code from the provider.")]
State = Annotated[str | None, QueryParameter(name="state", description="State that was sent to the provider.")]


class _PendingLogin(msgspec.Struct, frozen=True, array_like=True):
    """A login on its way to the provider and back, in a signed cookie of the browser that began it."""

    state: str
    nonce: str
    verifier: str
    next: str
    until: int


@post(
    "/session",
    operation_id="createSession",
    summary="Create a browser session",
    status_code=200,
    responses=documented(413, 503),
    opt=OPEN,
)
async def create_session(request: AnyRequest) -> Response[SessionView]:
    """Exchanges an API token for a session cookie; the session ends with the token."""
    gate = _gate(request)
    credentials = _credentials(gate)
    data = await parsed(request, SessionIn)
    try:
        identity = await gate.verify(data.token, peer(request.scope))
    except LimnographError as error:
        _told(request, "", "login", f"refused: {error.problem_type}")
        raise
    _told(request, identity.subject, "login", "ok", detail=identity.token_id or "")
    scopes = tuple(sorted(identity.scopes))
    view = SessionView(subject=identity.subject, scopes=scopes, next=return_path(data.next))
    return Response(view, cookies=[_cookie(gate, credentials, identity)])


@delete("/session", operation_id="endSession", summary="Log out", status_code=204, responses=documented(), opt=OPEN)
async def end_session(request: AnyRequest) -> Response[None]:
    """Ends the session on all servers. Without a session, nothing changes."""
    gate = _gate(request)
    cookie = gate.session_cookie(_headers(request))
    if gate.credentials is not None and cookie is not None:
        ended = gate.credentials.sessions.end(cookie)
        if ended is not None:
            _told(request, ended.subject, "logout", "ok")
    return Response(None, status_code=204, cookies=[_gone(gate)])


@get("/login", include_in_schema=False, sync_to_thread=False, opt=OPEN)
def login_page(request: AnyRequest, target: Next = "/") -> Response[bytes]:
    """The login page: requests a token or redirects to the provider. An authenticated user is redirected."""
    return _page(request, target)


@get("/login/link", include_in_schema=False, sync_to_thread=False, opt=OPEN)
def login_link(request: AnyRequest, target: Next = "/") -> Response[bytes]:
    """Where a login link leads: the login page, whose script takes the token from the fragment. A user who is already
    authenticated is redirected to an empty fragment, otherwise the browser would keep the token in the address.
    """
    return _page(request, target, "#")


@get("/login/start", include_in_schema=False, opt=OPEN)
async def login_start(request: AnyRequest, target: Next = "/") -> Response[bytes]:
    """Redirect to the provider."""
    gate = _gate(request)
    credentials, provider = _provider(gate)
    started = await provider.start()
    pending = _PendingLogin(started.state, started.nonce, started.verifier, return_path(target), _until(credentials))
    answer = _redirect(started.url)
    value = credentials.sessions.signed(msgspec.json.encode(pending), "login")
    answer.set_cookie(_made(gate, _STATE_COOKIE, value, _STATE_S, path="/login"))
    return answer


@get("/login/callback", include_in_schema=False, opt=OPEN)
async def login_callback(
    request: AnyRequest, code: Code = None, returned: State = None, error: Failure = None
) -> Response[bytes]:
    """Callback from the provider: the server exchanges the code, and only for the browser that began the login."""
    gate = _gate(request)
    credentials, provider = _provider(gate)
    credentials.attempts.check(peer(request.scope))
    try:
        pending = _pending(request, credentials, returned)
        identity = await _proven(credentials, provider, pending, None if error else code)
    except (Unauthenticated, Forbidden) as refused:
        credentials.attempts.failed(peer(request.scope))
        _told(request, "", "login", f"refused: {refused.problem_type}")
        raise
    _told(request, identity.subject, "login", "ok", detail="oidc")
    answer = _redirect(pending.next)
    answer.set_cookie(_cookie(gate, credentials, identity))
    answer.set_cookie(_made(gate, _STATE_COOKIE, "", 0, path="/login"))
    return answer


@get("/login/{name:str}", include_in_schema=False, sync_to_thread=False, opt=OPEN)
def login_file(name: FromPath[str]) -> Response[bytes]:
    """Style and script of the page."""
    if name not in _FILES or name == "login.html":
        raise NotFoundException
    return _static(_FILES[name], name.rpartition(".")[2])


def to_login(request: AnyRequest) -> Response[bytes]:
    """Where an unauthenticated browser is redirected to. A proxy logs users in: raises Unauthenticated."""
    credentials = _gate(request).credentials
    if credentials is not None and credentials.proxy is not None:
        raise request.scope["state"].get("refusal") or Unauthenticated("the proxy sent no user")
    query = request.scope["query_string"].decode("latin-1")
    asked = request.scope["raw_path"].decode("latin-1") + (f"?{query}" if query else "")
    return _redirect("/login?next=" + quote(return_path(asked), safe="/"))


def _page(request: AnyRequest, target: str, fragment: str = "") -> Response[bytes]:
    """The login page; for an authenticated user a redirect to the target, with a fragment."""
    gate = _gate(request)
    identity: Identity | None = request.scope["state"].get("identity")
    if (
        gate.credentials is None
        or gate.credentials.proxy is not None
        or (identity is not None and "read" in identity.scopes)
    ):
        return _redirect(return_path(target) + fragment)
    link = ""
    if gate.credentials.provider is not None:
        to = html.escape("/login/start?" + urlencode({"next": return_path(target)}), quote=True)
        link = f'<a class="button" href="{to}">Log in with your account</a>'
    body = _FILES["login.html"].replace(b"<!--provider-->", link.encode())
    return _static(body, "html")


def _gate(request: AnyRequest) -> Authenticator:
    return cast("Authenticator", request.app.state["gate"])


def _credentials(gate: Authenticator) -> Credentials:
    if gate.credentials is None or gate.credentials.proxy is not None:
        raise InvalidInput("token", "login is not available: authentication is off, or a proxy authenticates users")
    return gate.credentials


def _provider(gate: Authenticator) -> tuple[Credentials, IdentityProvider]:
    if gate.credentials is None or gate.credentials.provider is None:
        raise NotFoundException
    return gate.credentials, gate.credentials.provider


def _headers(request: AnyRequest) -> Headers:
    return dict(request.scope["headers"])


async def _proven(
    credentials: Credentials, provider: IdentityProvider, pending: _PendingLogin, code: str | None
) -> Identity:
    """The user that the code identifies, with their scopes. Raises Unauthenticated, Forbidden, SourceError."""
    if not code or len(code) > _LARGEST_CODE:
        raise Unauthenticated("the identity provider rejected the login")
    claims = await provider.finish(code, LoginStart("", pending.state, pending.nonce, pending.verifier))
    scopes = granted(claims, credentials.grants)
    if not scopes:
        raise Forbidden("you are authenticated, but have no permissions; request a grant in [auth.oidc.grants]")
    return Identity(claims.email or claims.subject, scopes, "session")


def _pending(request: AnyRequest, credentials: Credentials, state: str | None) -> _PendingLogin:
    """The login that this browser began. Raises Unauthenticated."""
    payload = credentials.sessions.unsigned(request.cookies.get(_STATE_COOKIE, ""), "login")
    try:
        found = msgspec.json.decode(payload or b"", type=_PendingLogin)
    except msgspec.MsgspecError as error:
        raise Unauthenticated("the login was not started in this browser; log in again") from error
    if state != found.state:
        raise Unauthenticated("the login was not started in this browser; log in again")
    if found.until < credentials.sessions.now():
        raise Unauthenticated("the login took too long; log in again")
    return found


def _until(credentials: Credentials) -> int:
    return credentials.sessions.now() + _STATE_S * MICROS_PER_SECOND


def _cookie(gate: Authenticator, credentials: Credentials, identity: Identity) -> Cookie:
    opened = credentials.sessions.open(identity)
    return _made(gate, gate.cookie, opened.cookie, opened.seconds)


def _gone(gate: Authenticator) -> Cookie:
    return _made(gate, gate.cookie, "", 0)


def _made(gate: Authenticator, key: str, value: str, seconds: int, path: str = "/") -> Cookie:
    same: Literal["lax"] = "lax"
    return Cookie(key, value=value, max_age=seconds, path=path, secure=gate.secure, httponly=True, samesite=same)


def _redirect(to: str) -> Response[bytes]:
    """Redirect to an address, escaping characters that a header cannot contain."""
    headers = {"location": quote(to, safe=_PLAIN_IN_URLS), "cache-control": "no-store"}
    return Response(b"", status_code=303, headers=headers, media_type="text/plain")


def _static(body: bytes, suffix: str) -> Response[bytes]:
    return Response(body, headers={"cache-control": "no-cache"}, media_type=_MIME[suffix])


def _told(request: AnyRequest, who: str, what: str, outcome: str, *, detail: str = "") -> None:
    audit = _gate(request).audit
    if audit is not None:
        audit.write(
            AuditEvent(
                at=now_text(),
                who=who,
                what=what,
                outcome=outcome,
                address=peer(request.scope),
                request_id=request.scope["state"].get("request_id", ""),
                detail=detail,
            )
        )


API_HANDLERS: list[Any] = [create_session, end_session]
ROOT_HANDLERS: list[Any] = [login_page, login_link, login_start, login_callback, login_file]
