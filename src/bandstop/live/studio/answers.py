"""Reading requests with bounds, and answering with one sentence what a user can mend."""

from __future__ import annotations

import errno
import json
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bandstop.errors import BandstopError

__all__ = ["MOST_BODY", "answering", "read_body", "read_json"]

MOST_BODY = 16 << 20
"""Bytes of a request: ten minutes of landmarks are 4.5 MB."""
Owner = TypeVar("Owner")
Handler = Callable[[Owner, Request], Awaitable[Response]]


def answering(handler: Handler[Owner]) -> Handler[Owner]:
    """Turn what a user can mend into an answer with one sentence."""

    @wraps(handler)
    async def safe(self: Owner, request: Request) -> Response:
        try:
            return await handler(self, request)
        except BandstopError as error:
            return JSONResponse({"problem": str(error)}, status_code=400)
        except OSError as error:
            full = error.errno in (errno.ENOSPC, errno.EDQUOT)
            said = "the disk is full: make room on it" if full else f"{error}"
            return JSONResponse({"problem": said}, status_code=507 if full else 500)

    return safe


async def read_body(request: Request) -> bytes:
    """The whole body, refused as soon as it is too long."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MOST_BODY:
            raise BandstopError(f"a recording has at most {MOST_BODY} bytes")
        parts.append(part)
    return b"".join(parts)


async def read_json(request: Request) -> dict[str, Any]:
    """The object that a body holds."""
    try:
        found = json.loads(await read_body(request) or b"{}")
    except (ValueError, RecursionError):
        raise BandstopError("the request is not valid JSON") from None
    if not isinstance(found, dict):
        raise BandstopError("the request must be an object")
    return found
