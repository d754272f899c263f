"""The studio's page in a real browser, with landmarks played from a file."""

from __future__ import annotations

import errno
import io
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.live.studio.browser import FEW, a_stream, few_hands, idle_part, landmark_file, open_chromium
from tests.live.studio.conftest import Visitor, started

STREAM = a_stream()


class Page:
    """What a user does on the page."""

    def __init__(self, driver: Any, studio: Visitor) -> None:
        self.driver, self.studio = driver, studio

    def open(self, step: str = "record") -> Page:
        """Open the studio by its address, at a step."""
        self.driver.get(self.studio.server.address)
        self.driver.get(f"http://127.0.0.1:{self.studio.server.port}/#{step}")
        self.ready()
        return self

    def ready(self) -> None:
        """Wait until the page has begun."""
        self.until(lambda: self.script("return document.body.dataset.ready") == "yes")

    def script(self, text: str, *given: Any) -> Any:
        """What a piece of JavaScript answers."""
        return self.driver.execute_script(text, *given)

    def find(self, selector: str) -> Any:
        """One element."""
        return self.driver.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        """The text of an element."""
        return self.find(selector).text

    def click(self, selector: str) -> None:
        """Press something."""
        self.find(selector).click()

    def choose(self, selector: str, value: str) -> None:
        """Choose from a list."""
        event = "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))"
        self.script(f"arguments[0].value = arguments[1]; {event}", self.find(selector), value)

    def until(self, true: Callable[[], Any], seconds: float = 30) -> Any:
        """Wait until something is so."""
        end, problem = time.monotonic() + seconds, None
        while time.monotonic() < end:
            try:
                if found := true():
                    return found
            except Exception as error:  # an element that is just being replaced
                problem = error
            time.sleep(0.05)
        said = self.script("return document.getElementById('message').textContent")
        log = self.driver.get_log("browser")
        raise AssertionError(f"waited {seconds} s in vain; the page says {said!r}, {problem}, {log}")

    def play(self, path: Path, frames: np.ndarray, speed: int = 4) -> None:
        """Open a landmark file as the source."""
        self.choose("#speed", str(speed))
        self.find("#use-file").send_keys(str(landmark_file(path, frames)))
        self.until(lambda: "A hand is seen" in self.text("#source-state"))

    def record(self, name: str, seconds: str = "1") -> None:
        """Choose a class and press Record, without a countdown."""
        self.choose("#count-from", "0")
        self.choose("#seconds", seconds)
        self.click(f"[data-class='{name}']")
        self.click("#record")

    def stored(self) -> list[str]:
        """Recordings on disk, as class/file."""
        folder = self.studio.server.project.recordings.folder
        return sorted(f"{file.parent.name}/{file.name}" for file in folder.glob("*/*.csv"))


@pytest.fixture(scope="module")
def driver() -> Iterator[Any]:
    found = open_chromium()
    yield found
    found.quit()


@pytest.fixture
def page(driver: Any, studio: Visitor) -> Iterator[Page]:
    studio("POST", "/api/classes", {"name": "fist"})
    yield Page(driver, studio).open()
    for handle in driver.window_handles[1:]:
        driver.switch_to.window(handle)
        driver.close()
    driver.switch_to.window(driver.window_handles[0])
    driver.execute_script("localStorage.clear()")
    driver.get("about:blank")


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
    page.until(lambda: "Recording none: " in page.text("#recording-state"))
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
    page.until(lambda: "no row of 63 numbers" in page.text("#message"))


def test_from_recordings_to_a_package(page: Page, tmp_path: Path) -> None:
    hands = few_hands()
    for i, (frames, label) in enumerate(zip(hands, hands.labels, strict=True)):
        assert page.studio.record(hands.class_names[label], f"given-{i:03d}", frames).status == 201
    assert page.studio.record("none", "given-idle", idle_part(STREAM)[:600]).status == 201
    page.studio("DELETE", "/api/classes/fist")
    page.driver.refresh()
    page.ready()
    page.click("#tab-train")
    assert "enough" in page.text("#enough")

    # Train, stop on the way, go on, come to the end.
    page.choose("#epochs", "80")
    page.click("#train")
    page.until(lambda: "epoch" in page.text("#train-state"), 60)
    page.click("#cancel")
    page.until(lambda: page.text("#train-state").startswith("Stopped"))
    job = page.studio.server.project.trainings.place(1) / "job.json"
    page.click("#resume")
    page.until(lambda: page.text("#train-state").startswith("Done"), 240)
    assert job.is_file() and "95 % sure" in page.text("#outcome")

    # Try: the module in the page names what the Python recogniser names.
    page.click("#tab-try")
    page.play(tmp_path / "stream.csv", STREAM.joints, speed=8)
    page.click("#try-start")
    page.until(lambda: len(page.driver.find_elements("css selector", "#events li")) >= 1, 60)
    named = page.text("#events li:last-child strong")
    assert named in FEW
    page.click("#events li:last-child button")
    page.until(lambda: "1 of 1 events were right" in page.text("#confusion"))
    page.click("#try-stop")
    page.click("#stop-source")

    # Take away: sizes are shown, and a package is what it says.
    page.click("#tab-take")
    page.until(lambda: "making it" not in page.text("#packages"), 120)
    sizes = {what: page.text(f"[data-size='{what}']") for what in ("c", "wasm", "onnx", "report", "run")}
    assert all("kB" in size or "bytes" in size for size in sizes.values()), sizes
    data = page.studio("GET", "/api/trainings/1/packages/c").body
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert "bandstop-c/recogniser_live.c" in names and "bandstop-c/recogniser.h" in names
