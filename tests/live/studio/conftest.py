"""A studio server in a thread, and requests to it."""

from __future__ import annotations

import functools
import http.client
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("starlette")

from bandstop.live.studio.server import StudioServer


@dataclass
class Answer:
    """Status, headers and body of an answer."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.body)


class Visitor:
    """Sends requests to a studio as its page would, unless told otherwise."""

    def __init__(self, server: StudioServer) -> None:
        self.server = server

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        own = {"host": f"127.0.0.1:{self.server.port}", "x-bandstop-token": self.server.token}
        sent = {**own, **{key.replace("_", "-"): value for key, value in headers.items()}}
        sent = {key: value for key, value in sent.items() if value}
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        link = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)
        try:
            link.putrequest(method, path, skip_host=True)
            for key, value in sent.items():
                link.putheader(key, value)
            if data is not None:
                link.putheader("content-length", str(len(data)))
            link.endheaders(data)
            answer = link.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            link.close()

    def record(self, name: str, identifier: str, frames: np.ndarray) -> Answer:
        """Store a recording."""
        path = f"/api/recordings/{name.replace(' ', '%20')}/{identifier}"
        return self("PUT", path, np.ascontiguousarray(frames, "<f4").tobytes())


def started(folder: Path, port: int = 0, token: str | None = None) -> tuple[StudioServer, threading.Thread]:
    """A server that answers."""
    server = StudioServer(folder, port=port, token=token)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    for _ in range(200):
        try:
            http.client.HTTPConnection("127.0.0.1", server.port, timeout=1).connect()
            return server, thread
        except OSError:
            time.sleep(0.05)
    raise TimeoutError("the studio does not answer")


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Visitor]:
    """A studio with an empty project."""
    server, thread = started(tmp_path / "project")
    yield Visitor(server)
    server.stop()
    thread.join(timeout=20)


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    """A Chromium for the tests of a file."""
    from tests.live.studio.browser import open_chromium

    found = open_chromium()
    yield found
    found.quit()


@pytest.fixture
def page(driver: Any, studio: Visitor) -> Iterator[Any]:
    """The page of a studio that has one empty class."""
    from tests.live.studio.page import Page

    studio("POST", "/api/classes", {"name": "fist"})
    yield Page(driver, studio).open()
    for handle in driver.window_handles[1:]:
        driver.switch_to.window(handle)
        driver.close()
    driver.switch_to.window(driver.window_handles[0])
    driver.execute_script("localStorage.clear()")
    driver.get("about:blank")


class QuietHandler(SimpleHTTPRequestHandler):
    """A plain web server's handler that writes no log."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a plain web server, and the folder that it shows."""
    folder = tmp_path / "site"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", folder
    server.shutdown()
