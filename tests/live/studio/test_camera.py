"""The whole way from a camera: a drawn hand before Chromium's fake camera, landmarks by MediaPipe.

Software rendering takes about a second a picture, so this is a short visit.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.live.studio import mediapipe
from bandstop.live.studio.static_page import export_page
from bandstop.skeleton.layouts import HAND
from tests.live.studio.browser import CAMERA, open_chromium, until
from tests.live.studio.conftest import Visitor
from tests.live.studio.drawn_hand import write_camera_file
from tests.live.studio.page import Page


@pytest.fixture(scope="module")
def landmarks(tmp_path_factory: pytest.TempPathFactory):
    """MediaPipe's files: those of this machine's user, or fetched for this test."""
    with pytest.MonkeyPatch.context() as patch:
        if not mediapipe.installed():
            patch.setenv("BANDSTOP_CACHE", str(tmp_path_factory.mktemp("cache")))
            try:
                mediapipe.set_up()
            except DataError as problem:
                pytest.skip(f"@mediapipe/hands is not there and cannot be fetched ({str(problem)[:80]} …)")
        yield


@pytest.fixture(scope="module")
def watching(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A browser with a drawn hand before its camera."""
    film = write_camera_file(tmp_path_factory.mktemp("film") / "hand.y4m", frames=12)
    driver = open_chromium(*CAMERA, f"--use-file-for-fake-video-capture={film}")
    driver.set_script_timeout(180)
    yield driver
    driver.quit()


def _sways(frames: np.ndarray) -> None:
    """The drawn wrist lies at (320 ± 60, 330) of 640 × 480 points, the fingers point up."""
    wrist, tips = frames[:, 0], frames[:, [HAND.joint_names.index(n) for n in ("middle tip", "index tip")]]
    assert (np.abs(wrist[:, 0] - 320 / 480) < 0.25).all() and (np.abs(wrist[:, 1] - 330 / 480) < 0.15).all()
    assert (tips[:, :, 1] < wrist[:, None, 1] - 0.2).all()


@pytest.mark.slow
def test_a_hand_before_the_camera_is_recorded(landmarks, watching: Any, studio: Visitor) -> None:
    studio("POST", "/api/classes", {"name": "sway"})
    page = Page(watching, studio).open()
    page.choose("#count-from", "0")
    page.choose("#seconds", "1")
    page.click("#use-camera")
    page.until(lambda: "A hand is seen" in page.text("#source-state"), 180)
    page.click("#record")
    page.until(lambda: len(page.stored()) == 1, 180)
    page.click("#stop-source")
    (one,) = studio.server.project.recordings.classes()["sway"]
    frames = studio.server.project.recordings.read("sway", one.identifier)
    assert frames.shape == (30, 21, 3)
    _sways(frames)
    problems = [row["message"] for row in watching.get_log("browser") if row["level"] == "SEVERE"]
    assert not problems, "the page's policy forbids nothing that MediaPipe does"


FILM_AND_DROP = """
const [place, done] = arguments;
const stream = await navigator.mediaDevices.getUserMedia({ video: true });
const film = new MediaRecorder(stream, { mimeType: "video/webm" }), parts = [];
film.ondataavailable = (event) => parts.push(event.data);
film.onstop = () => {
  stream.getTracks().forEach((track) => track.stop());
  const given = new DataTransfer();
  given.items.add(new File(parts, "film.webm", { type: "video/webm" }));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
  done(parts.length);
};
film.start();
setTimeout(() => film.stop(), 1500);
"""


@pytest.mark.slow
def test_a_dropped_video_becomes_a_recording(landmarks, watching: Any, studio: Visitor) -> None:
    studio("POST", "/api/classes", {"name": "sway"})
    page = Page(watching, studio).open()
    script = f"(async (...arguments) => {{ {FILM_AND_DROP} }})(...arguments)"
    assert watching.execute_async_script(script, page.find("[data-class='sway']")) >= 1
    page.until(lambda: len(page.stored()) == 1, 300)
    page.until(lambda: "Added 1 of 1 file to sway" in page.text("#recording-state"))
    (one,) = studio.server.project.recordings.classes()["sway"]
    frames = studio.server.project.recordings.read("sway", one.identifier)
    assert len(frames) >= 5
    _sways(frames)


@pytest.mark.slow
def test_the_page_without_python_sees_a_hand(landmarks, watching: Any, small_live: Any, site: Any) -> None:
    address, folder = site
    export_page(small_live.run, folder, frames=small_live.data.validation[0].joints)
    watching.get(f"{address}/recogniser-page/")
    until(lambda: watching.execute_script("return document.body.dataset.ready") == "yes")
    watching.find_element("id", "use-camera").click()
    until(lambda: watching.find_element("id", "source-state").text == "A hand is seen.", 180)
    rows = [row["message"] for row in watching.get_log("browser") if row["level"] == "SEVERE"]
    assert [row for row in rows if row.startswith(address)] == []
    watching.find_element("id", "stop-source").click()
