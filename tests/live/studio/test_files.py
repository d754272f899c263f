"""Files as recordings: landmark files of every kind that training reads, dropped or chosen, one or many."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.live.studio.recordings import read_landmark_file
from bandstop.skeleton.layouts import HAND, MEDIAPIPE_HAND
from tests.live.studio.browser import a_stream, landmark_file
from tests.live.studio.page import Page

STREAM = a_stream().joints[:60]
DROP = """
const [place, names, texts] = arguments, given = new DataTransfer();
names.forEach((name, i) => given.items.add(new File([texts[i]], name)));
place.dispatchEvent(new DragEvent("drop", { dataTransfer: given, bubbles: true, cancelable: true }));
"""


def _mediapipe_json() -> str:
    theirs = [HAND.joint_names.index(name) for name in MEDIAPIPE_HAND.joint_names]
    frames = [
        [dict(zip("xyz", map(float, point), strict=True)) for point in frame[theirs]] for frame in STREAM
    ]
    return json.dumps([{"landmarks": [frame]} for frame in frames])


def test_mediapipes_order_becomes_the_studios() -> None:
    found = read_landmark_file("hand.json", _mediapipe_json().encode())
    assert np.allclose(found, STREAM, atol=1e-4)


def test_columns_are_matched_by_name() -> None:
    names = list(MEDIAPIPE_HAND.joint_names)
    theirs = [HAND.joint_names.index(name) for name in names]
    header = ",".join(f"{name.replace(' ', '_')}_{axis}" for name in names for axis in "xyz")
    rows = [",".join(f"{v:.6g}" for v in frame[theirs].ravel()) for frame in STREAM]
    found = read_landmark_file("hand.csv", "\n".join([header, *rows]).encode())
    assert np.allclose(found, STREAM, atol=1e-3)


@pytest.mark.parametrize(
    ("name", "data"),
    [("x.csv", b"1,2,3\n"), ("x.exe", b"MZ"), ("../../x", b""), ("x.json", b"[" * 100_000), ("x.npy", b"no")],
)
def test_other_files_are_refused_by_name(name: str, data: bytes) -> None:
    with pytest.raises(DataError) as found:
        read_landmark_file(name, data)
    assert "\n" not in str(found.value) and "/tmp" not in str(found.value)


def test_chosen_files_become_recordings(page: Page, tmp_path: Path) -> None:
    one = landmark_file(tmp_path / "one.csv", STREAM)
    (tmp_path / "two.json").write_text(_mediapipe_json())
    page.find("#add-files").send_keys(f"{one}\n{tmp_path / 'two.json'}")
    page.until(lambda: "Added 2 of 2 files to fist" in page.text("#recording-state"))
    recordings = page.studio.server.project.recordings
    found = [recordings.read("fist", kept.identifier) for kept in recordings.classes()["fist"]]
    assert len(found) == 2 and all(np.allclose(frames, STREAM, atol=0.02) for frames in found)


def test_files_dropped_on_a_name_are_of_that_gesture(page: Page, tmp_path: Path) -> None:
    page.studio("POST", "/api/classes", {"name": "wave"})
    page.driver.refresh()
    page.ready()
    text = landmark_file(tmp_path / "one.csv", STREAM).read_text()
    page.script(DROP, page.find("[data-class='wave']"), ["one.csv", "two.csv"], [text, text])
    page.until(lambda: len(page.stored()) == 2)
    assert {name.split("/")[0] for name in page.stored()} == {"wave"}
    assert page.text("#source-state") != "A hand is seen.", "the file is stored, not watched"


def test_a_file_dropped_on_the_picture_is_watched(page: Page, tmp_path: Path) -> None:
    text = landmark_file(tmp_path / "one.csv", STREAM).read_text()
    page.script(DROP, page.find(".stage"), ["one.csv"], [text])
    page.until(lambda: page.text("#source-state") == "A hand is seen.")
    assert page.stored() == []


def test_a_wrong_file_among_good_ones_is_named(page: Page, tmp_path: Path) -> None:
    text = landmark_file(tmp_path / "one.csv", STREAM).read_text()
    page.script(DROP, page.find("[data-class='fist']"), ["good.csv", "bad.csv"], [text, "1,2"])
    page.until(lambda: "bad.csv" in page.text("#message"))
    page.until(lambda: "Added 1 of 2" in page.text("#recording-state"))
    assert len(page.stored()) == 1
