"""The page without Python: shown by a plain web server from a sub-path, with a camera and landmarks."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandstop.cli import main
from bandstop.errors import ExportError
from bandstop.live import load_live
from bandstop.live.studio import mediapipe
from bandstop.live.studio.static_page import export_page, landmark_order
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_HAND, SHREC_22
from tests.live.studio.browser import CAMERA, open_chromium, recorded_folder, until

STAND_IN = """
globalThis.Hands = class { // answers every picture with the next frame of a file, in MediaPipe's order
  async initialize() { this.frames = await (await fetch(this.place("frames.json"))).json(); this.at = 0; }
  constructor({ locateFile }) { this.place = locateFile; }
  setOptions() {}
  onResults(heard) { this.heard = heard; }
  async send({ image }) {
    const wide = image.videoWidth / image.videoHeight, frame = this.frames[this.at++ % this.frames.length];
    this.heard({ multiHandLandmarks: [frame.map(([x, y, z]) => ({ x: x / wide, y, z: z / wide }))] });
  }
};
"""


@pytest.fixture
def landmarks(tmp_path: Path, small_live: Any) -> Path:
    """A folder with the names of MediaPipe's files, whose script plays a stream."""
    folder = tmp_path / "landmarks"
    folder.mkdir()
    for name in mediapipe.FILES:
        (folder / name).write_bytes(b"")
    (folder / "hands.js").write_text(STAND_IN)
    return folder


def test_it_names_gestures_from_a_sub_path(small_live, landmarks, site, tmp_path, capsys):
    address, folder = site
    stream = small_live.data.validation[0].joints
    theirs = [HAND.joint_names.index(name) for name in MEDIAPIPE_HAND.joint_names]
    out = folder / "deep" / "er"
    data = ["--data", str(recorded_folder(tmp_path / "data"))]
    order = ["export", str(small_live.run), "--to", "page", "--mediapipe", str(landmarks), "--out", str(out)]
    assert main([*order, *data]) == 0 and "http.server" in capsys.readouterr().out
    place = out / "recogniser-page" / "mediapipe"
    (place / "frames.json").write_text(json.dumps(np.round(stream[:, theirs], 3).tolist()))
    driver = open_chromium(*CAMERA)
    try:
        driver.get(f"{address}/deep/er/recogniser-page/")
        until(lambda: driver.execute_script("return document.body.dataset.ready") == "yes")
        driver.find_element("id", "use-camera").click()
        found = lambda: driver.find_elements("css selector", "#events li strong")  # noqa: E731
        until(found)
        assert {one.text for one in found()} <= set(load_live(small_live.run).class_names)
        assert driver.find_element("id", "source-state").text == "A hand is seen."
        driver.find_element("id", "stop-source").click()
        wide, room = driver.execute_script("return [document.scrollingElement.scrollWidth, innerWidth]")
        assert wide <= room
        problems = [row["message"] for row in driver.get_log("browser") if row["level"] == "SEVERE"]
        assert problems == [], "the page's policy forbids nothing that it does"
        # The policy holds: nothing is built from text, and nothing is asked of another server.
        asked = (
            "const done = arguments[0]; setTimeout(async () => { let built = 'refused'; "
            "try { built = eval('1') } catch { /* as it should be */ } "
            "done([built, await fetch('http://127.0.0.1:1/').then(() => 'sent', () => 'refused')]) })"
        )
        assert driver.execute_async_script(asked) == ["refused", "refused"]
        said = " ".join(row["message"] for row in driver.get_log("browser"))
        assert "Content Security Policy" in said
    finally:
        driver.quit()


def test_without_landmarks_it_is_refused_and_nothing_is_written(small_live, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BANDSTOP_CACHE", str(tmp_path / "nothing"))
    data = ["--data", str(recorded_folder(tmp_path / "data"))]
    order = ["export", str(small_live.run), "--to", "page", "--out", str(tmp_path / "out"), *data]
    assert main(order) == 2
    said = capsys.readouterr().err
    assert "bandstop studio --setup" in said and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_other_runs_are_refused(small_live, landmarks, tmp_path, capsys):
    run = tmp_path / "cut-outs"
    shutil.copytree(small_live.run, run)
    (run / "live.json").unlink()
    assert main(["export", str(run), "--to", "page", "--mediapipe", str(landmarks)]) == 2
    assert "bandstop live" in capsys.readouterr().err
    with pytest.raises(ExportError, match="21 hand landmarks"):
        landmark_order(SHREC_22.joint_names)


def test_the_same_run_gives_the_same_page(small_live, landmarks, tmp_path):
    stream = small_live.data.validation[0].joints
    made = [tmp_path / one for one in ("a", "b")]
    for out in made:
        export_page(small_live.run, out, frames=stream, landmarks=landmarks, title="<Wave & pour>")
    files = [{p.relative_to(o): p.read_bytes() for p in o.rglob("*") if p.is_file()} for o in made]
    assert files[0] == files[1]
    page = (made[0] / "recogniser-page" / "index.html").read_text()
    assert "&lt;Wave &amp; pour&gt;" in page and "http://" not in page and "https://" not in page
