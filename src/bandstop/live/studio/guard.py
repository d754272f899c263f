"""Who may talk to the studio: the page that this machine's browser opened with the token, nobody else.

A request must name this server's own address as its host (no DNS rebinding), must not come from another site
(no cross-origin requests, read or write), and must carry the token: in the address once, afterwards in a
cookie.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import URL, Headers, MutableHeaders
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "refusal"]

TOKEN_HEADER = "x-bandstop-token"
_SAME_SITE = ("same-origin", "none", None)


def _policy(port: int) -> dict[str, str]:
    sockets = f"ws://127.0.0.1:{port} ws://localhost:{port}"
    return {
        # MediaPipe and the recogniser compile WebAssembly; nothing builds functions from text.
        "content-security-policy": (
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self'; "
            f"media-src 'self' blob:; connect-src 'self' {sockets}; "
            "frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
        ),
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
    }


def refusal(headers: Mapping[str, str], given: str | None, *, token: str, port: int) -> str | None:
    """Why a request is refused, or None; ``given`` is the token it carries.

    >>> good = {"host": "127.0.0.1:8000", "origin": "http://127.0.0.1:8000"}
    >>> refusal(good, "secret", token="secret", port=8000) is None
    True
    >>> refusal({**good, "host": "evil.example:8000"}, "secret", token="secret", port=8000)
    'the studio answers to its own address only'
    >>> refusal({**good, "origin": "http://evil.example"}, "secret", token="secret", port=8000)
    'another site may not use the studio'
    """
    hosts = (f"127.0.0.1:{port}", f"localhost:{port}")
    if headers.get("host") not in hosts:
        return "the studio answers to its own address only"
    origin = headers.get("origin")
    if origin is not None and origin not in [f"http://{host}" for host in hosts]:
        return "another site may not use the studio"
    if headers.get("sec-fetch-site") not in _SAME_SITE:
        return "another site may not use the studio"
    if given is None or not hmac.compare_digest(given.encode(), token.encode()):
        return "the token is missing: open the address that `bandstop studio` printed"
    return None


class Guard:
    """ASGI middleware that refuses strangers and adds the page's policy to every answer."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        self.app, self.token, self.port = app, token, port
        self.cookie = f"bandstop-studio-{port}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        asked = URL(scope=scope)
        in_address = dict(part.partition("=")[::2] for part in asked.query.split("&")).get("token")
        front = scope["type"] == "http" and asked.path == "/" and scope["method"] == "GET"
        given = headers.get(TOKEN_HEADER) or self._from_cookie(headers)
        if front and in_address:  # the address opens the front page, and nothing else
            given = in_address
        problem = refusal(headers, given, token=self.token, port=self.port)
        if problem is not None:
            await self._refuse(problem, scope, receive, send)
        elif front and in_address:
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(self.cookie, self.token, httponly=True, samesite="strict")
            await answer(scope, receive, send)
        else:
            await self.app(scope, receive, self._with_policy(send))

    def _from_cookie(self, headers: Headers) -> str | None:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self.cookie)
        except CookieError:
            return None
        return None if found is None else found.value

    async def _refuse(self, problem: str, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": problem})
            return
        await PlainTextResponse(problem, status_code=403)(scope, receive, self._with_policy(send))

    def _with_policy(self, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _policy(self.port).items():
                    headers[name] = value
            await send(message)

        return sending
