"""The whole way from a camera: a drawn hand before Chromium's fake camera, landmarks by MediaPipe.

Software rendering takes about a second a picture, so this is a short visit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.live.studio import mediapipe
from bandstop.skeleton.layouts import HAND
from tests.live.studio.browser import open_chromium
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


@pytest.mark.slow
def test_a_hand_before_the_camera_is_recorded(landmarks, studio: Visitor, tmp_path: Path) -> None:
    film = write_camera_file(tmp_path / "hand.y4m", frames=12)
    driver = open_chromium(
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={film}",
        "--use-gl=angle",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--ignore-gpu-blocklist",
    )
    try:
        studio("POST", "/api/classes", {"name": "sway"})
        page = Page(driver, studio).open()
        driver.set_script_timeout(120)
        page.choose("#count-from", "0")
        page.choose("#seconds", "1")
        page.click("#use-camera")
        page.until(lambda: "A hand is seen" in page.text("#source-state"), 180)
        page.click("#record")
        page.until(lambda: len(page.stored()) == 1, 180)
    finally:
        driver.quit()
    (one,) = studio.server.project.recordings.classes()["sway"]
    frames = studio.server.project.recordings.read("sway", one.identifier)
    assert frames.shape == (30, 21, 3)
    wrist, tips = frames[:, 0], frames[:, [HAND.joint_names.index(n) for n in ("middle tip", "index tip")]]
    # The drawn wrist lies at (320 ± 60, 330) of 640 × 480 points, the fingers point up.
    assert (np.abs(wrist[:, 0] - 320 / 480) < 0.25).all() and (np.abs(wrist[:, 1] - 330 / 480) < 0.15).all()
    assert (tips[:, :, 1] < wrist[:, None, 1] - 0.2).all()
