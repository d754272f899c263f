"""The studio's page in a real browser, with landmarks played from a file."""

from __future__ import annotations

import errno
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.live.studio.browser import a_stream
from tests.live.studio.conftest import Visitor, started
from tests.live.studio.page import Page

STREAM = a_stream()


def test_record_replay_delete_and_undo(page: Page, tmp_path: Path) -> None:
    page.find("#class-name").send_keys("my wave\n")
    page.until(lambda: "my wave" in page.text("#classes"))
    assert not page.find("#record").is_enabled()
    page.play(tmp_path / "play.csv", STREAM.joints[:90])
    page.choose("#times", "3")
    page.record("my wave")
    page.until(lambda: "Stored 3 recordings of my wave" in page.text("#recording-state"))
    found = page.studio.server.project.recordings.classes()["my wave"]
    assert [one.frames for one in found] == [30, 30, 30]
    # What is stored is what was played: frames of the file, one after the other.
    frames = page.studio.server.project.recordings.read("my wave", found[0].identifier)
    first = int(np.abs(STREAM.joints[:90] - frames[0]).sum((1, 2)).argmin())
    wanted = STREAM.joints[np.arange(first, first + 30) % 90]
    assert np.median(np.abs(frames - wanted)) < 0.5
    assert page.text("[data-class='my wave'] .count") == "3"
    page.click("#recordings li button[aria-label^='Replay']")
    page.click("#recordings li button[aria-label^='Delete']")
    page.until(lambda: len(page.stored()) == 2)
    page.until(lambda: page.find("#recording-state button").is_displayed())
    page.click("#recording-state button")
    page.until(lambda: len(page.stored()) == 3)


def test_idle_is_recorded_as_none(page: Page, tmp_path: Path) -> None:
    page.play(tmp_path / "play.csv", STREAM.joints[:300], speed=8)
    page.choose("#count-from", "0")
    page.click("#record-idle")
    page.until(lambda: "Recording idle hands: " in page.text("#recording-state"))
    time.sleep(0.7)
    page.click("#stop-recording")
    page.until(lambda: [name.split("/")[0] for name in page.stored()] == ["none"])


def test_a_reload_in_mid_recording_loses_nothing(page: Page, tmp_path: Path) -> None:
    page.play(tmp_path / "play.csv", STREAM.joints[:200], speed=1)
    page.record("fist", "4")
    page.until(lambda: page.script("return Object.keys(localStorage).length") == 1)
    time.sleep(1.2)
    page.driver.refresh()
    page.ready()
    page.until(lambda: len(page.stored()) == 1)
    assert "from before the reload" in page.text("#message")
    (one,) = page.studio.server.project.recordings.classes()["fist"]
    assert one.frames >= 15
    assert page.script("return Object.keys(localStorage).length") == 0


def test_a_lost_connection_loses_nothing(driver: Any, tmp_path: Path) -> None:
    server, thread = started(tmp_path / "project")
    page = Page(driver, Visitor(server))
    page.studio("POST", "/api/classes", {"name": "fist"})
    page.open()
    page.play(tmp_path / "play.csv", STREAM.joints[:90])
    server.stop()
    thread.join(timeout=20)
    page.until(lambda: "No connection" in page.text("#connection"))
    page.record("fist")
    page.until(lambda: "kept in the browser" in page.text("#message"))
    assert page.stored() == []
    again, thread = started(tmp_path / "project", port=server.port, token=server.token)
    try:
        page.until(lambda: len(page.stored()) == 1)
        page.until(lambda: page.text("#connection") == "")
        page.until(lambda: page.text("[data-class='fist'] .count") == "1")
    finally:
        driver.execute_script("localStorage.clear()")
        driver.get("about:blank")
        again.stop()
        thread.join(timeout=20)


def test_two_tabs_do_not_take_each_others_recordings(page: Page, tmp_path: Path) -> None:
    first = page.driver.current_window_handle
    page.play(tmp_path / "play.csv", STREAM.joints[:300], speed=1)
    page.record("fist", "3")
    page.until(lambda: page.script("return Object.keys(localStorage).length") == 1)
    page.driver.switch_to.new_window("tab")
    page.open()
    time.sleep(0.5)
    assert page.stored() == []
    page.driver.switch_to.window(first)
    page.until(lambda: "Stored 1" in page.text("#recording-state"))
    (one,) = page.studio.server.project.recordings.classes()["fist"]
    assert one.frames == 90


def test_a_full_disk_loses_nothing(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.play(tmp_path / "play.csv", STREAM.joints[:90])

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("bandstop.files.os.fsync", full)
    page.record("fist")
    page.until(lambda: "the disk is full" in page.text("#message"))
    assert page.stored() == []
    monkeypatch.undo()
    page.until(lambda: len(page.stored()) == 1)


def test_keyboard_and_names_for_screen_readers(page: Page, tmp_path: Path) -> None:
    from selenium.webdriver.common.keys import Keys

    page.play(tmp_path / "play.csv", STREAM.joints[:90])
    page.choose("#count-from", "0")
    page.choose("#seconds", "1")
    page.find("body").send_keys("r")
    page.until(lambda: len(page.stored()) == 1)
    for step in ("train", "try", "take", "record"):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        page.script("document.querySelector('[role=tab][aria-selected=true]').focus()")
        page.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
        assert page.find(f"#step-{step}").is_displayed()
        assert page.script("return document.activeElement.id") == f"tab-{step}"
    nameless = page.script(
        "return [...document.querySelectorAll('button, input, select, canvas, a, progress')].filter((e) => "
        "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML)"
    )
    assert nameless == []
    assert page.script("return document.documentElement.lang") == "en"


def test_it_fits_a_phone(page: Page) -> None:
    page.driver.set_window_size(390, 844)
    try:
        for step in ("record", "train", "try", "take"):
            page.click(f"#tab-{step}")
            wide, room = page.script("return [document.scrollingElement.scrollWidth, innerWidth]")
            assert wide <= room, step
    finally:
        page.driver.set_window_size(1280, 1000)


def test_the_camera_says_what_is_missing(page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BANDSTOP_CACHE", str(tmp_path / "nothing"))
    page.driver.refresh()
    page.ready()
    page.click("#use-camera")
    page.until(lambda: "bandstop studio --setup" in page.text("#message"))


def test_a_wrong_file_is_named(page: Page, tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text("1,2,3\n")
    page.find("#use-file").send_keys(str(tmp_path / "wrong.csv"))
    page.until(lambda: "wrong.csv" in page.text("#message"))
