"""A disk that is really full: a small tmpfs. What was recorded is kept in the browser until there is room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.studio.browser import a_stream
from tests.live.studio.conftest import Visitor, started
from tests.live.studio.page import Page

STREAM = a_stream()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 256 kB."""
    place = tmp_path / "disk"
    place.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(line, capture_output=True, check=False).returncode:
        pytest.skip("a small disk can be mounted by root only")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=False)


def test_recordings_wait_until_there_is_room(driver: Any, small_disk: Path, tmp_path: Path) -> None:
    server, thread = started(small_disk / "project")
    page = Page(driver, Visitor(server))
    try:
        page.studio("POST", "/api/classes", {"name": "fist"})
        page.open()
        page.play(tmp_path / "play.csv", STREAM.joints[:90])
        page.record("fist")
        page.until(lambda: len(page.stored()) == 1)
        first = (small_disk / "project" / "recordings" / page.stored()[0]).read_bytes()
        with (small_disk / "filler").open("wb", buffering=0) as filler, pytest.raises(OSError, match="space"):
            while True:
                filler.write(bytes(512))
        page.record("fist")
        page.until(lambda: "the disk is full" in page.text("#message"))
        page.record("fist")
        page.until(lambda: "2 recordings kept in the browser" in page.text("#message"))
        page.driver.refresh()  # nor does a reload lose them
        page.ready()
        kept = small_disk / "project" / "recordings"
        assert len(page.stored()) == 1 and (kept / page.stored()[0]).read_bytes() == first
        assert [p.name for p in kept.rglob(".*") if p.is_file()] == [], "nothing is left half written"
        (small_disk / "filler").unlink()
        page.until(lambda: len(page.stored()) == 3)
        page.until(lambda: page.text("[data-class='fist'] .count") == "3")
        page.until(lambda: page.script("return Object.keys(localStorage).length") == 0)
    finally:
        driver.execute_script("localStorage.clear()")
        driver.get("about:blank")
        server.stop()
        thread.join(timeout=20)
