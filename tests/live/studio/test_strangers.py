"""Other sites in the same browser, other names for this machine, paths that lead elsewhere: all refused."""

from __future__ import annotations

import http.client
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.live.studio.browser import open_chromium
from tests.live.studio.conftest import Visitor
from tests.live.studio.page import Page

ATTACK = """
const [studio, done] = arguments, said = {};
const tried = (name, work) => work.catch(() => "refused").then((found) => { said[name] = found; });
const post = { method: "POST", body: JSON.stringify({ name: "stolen" }), credentials: "include" };
const loaded = (tag, source) => new Promise((resolve) => {
  const made = document.createElement(tag);
  made.onload = () => resolve("read");
  made.onerror = () => resolve("refused");
  made.src = studio + source;
  document.body.append(made);
});
const socket = () => new Promise((resolve) => {
  const made = new WebSocket(studio.replace("http", "ws") + "/api/progress");
  made.onmessage = () => resolve("heard");
  made.onclose = () => resolve("refused");
});
Promise.all([
  tried("read", fetch(studio + "/api/state", { credentials: "include" }).then(() => "read")),
  tried("blind post", fetch(studio + "/api/classes", { ...post, mode: "no-cors" }).then(() => "sent")),
  tried("post", fetch(studio + "/api/classes", post).then(() => "sent")),
  tried("script", loaded("script", "/page/main.js")),
  tried("picture", loaded("img", "/page/icon.svg")),
  tried("socket", socket()),
]).then(() => done(said));
"""


def test_a_page_of_another_port_learns_and_changes_nothing(page: Page, site: tuple[str, Path]) -> None:
    """To cookies another port of this machine is the same site: they are sent, and origin decides."""
    address, folder = site
    (folder / "index.html").write_text("<!doctype html><title>stranger</title>")
    page.driver.get(address)
    studio = f"http://127.0.0.1:{page.studio.server.port}"
    found = page.driver.execute_async_script(ATTACK, studio)
    assert len(found) == 6 and set(found.values()) == {"refused"}, found
    assert list(page.studio.server.project.recordings.classes()) == ["fist"]


def test_a_name_that_leads_to_this_machine_is_refused(studio: Visitor) -> None:
    """DNS rebinding: a stranger's name points at 127.0.0.1, and even the token does not help."""
    driver = open_chromium("--host-resolver-rules=MAP evil.example 127.0.0.1")
    try:
        driver.get(f"http://evil.example:{studio.server.port}/?token={studio.server.token}")
        assert "answers to its own address only" in driver.find_element("tag name", "body").text
        assert driver.get_cookies() == []
    finally:
        driver.quit()


@pytest.mark.parametrize(
    "place",
    ["..%2f..", "..", "%2e%2e", "a%2f..%2f..%2fb", "..%5c..%5cx", "%00", "con%2f", ".hidden", "%2fetc"],
)
@pytest.mark.parametrize("method", ["PUT", "GET", "DELETE"])
def test_names_never_lead_out_of_the_folder(studio: Visitor, place: str, method: str) -> None:
    folder = Path(studio.server.project.folder)
    before = sorted(folder.rglob("*")), sorted(folder.parent.iterdir())
    body = np.zeros((5, 21, 3), np.float32).tobytes() if method == "PUT" else None
    for path in (f"{place}/good-name-1", f"fist/{place}"):
        assert studio(method, f"/api/recordings/{path}", body).status in (400, 403, 404, 405)
    for path in (
        f"/api/trainings/1/points/{place}/recogniser.wasm",
        f"/api/trainings/1/points/{place}/packages/c",
    ):
        assert studio("GET", path).status in (400, 404)
    assert (sorted(folder.rglob("*")), sorted(folder.parent.iterdir())) == before


def test_an_endless_upload_is_cut_off(studio: Visitor) -> None:
    """A body without a length is read only as far as the limit."""
    link = http.client.HTTPConnection("127.0.0.1", studio.server.port, timeout=60)
    link.putrequest("PUT", "/api/recordings/fist/endless-1", skip_host=True)
    for key, value in {
        "host": f"127.0.0.1:{studio.server.port}",
        "x-bandstop-token": studio.server.token,
        "transfer-encoding": "chunked",
    }.items():
        link.putheader(key, value)
    link.endheaders()
    block, sent = b"100000\r\n" + bytes(1 << 20) + b"\r\n", 0
    try:
        for _ in range(200):
            link.send(block)
            sent += 1
    except OSError:
        pass
    answer: Any = None
    try:
        answer = link.getresponse().status
    except (OSError, http.client.HTTPException):
        answer = "cut off"
    link.close()
    assert answer in (400, "cut off") and not list(studio.server.project.recordings.folder.rglob("*.csv"))
