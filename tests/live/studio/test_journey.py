"""From recordings to a package, on the page in a real browser."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

from bandstop.live.studio import mediapipe
from bandstop.live.studio.points import RATES
from bandstop.live.studio.takeaway import PACKAGES
from tests.live.studio.browser import FEW, a_stream, few_hands, idle_part
from tests.live.studio.page import Page

STREAM = a_stream()
WANTED = {
    "c": "recogniser_live.c",
    "arduino": "recogniser-arduino.zip",
    "platformio": "recogniser-platformio/platformio.ini",
    "cmake": "recogniser-cmake/CMakeLists.txt",
    "wasm": "recogniser_live.wasm",
    "onnx": "recogniser.onnx",
    "report": "report.html",
    "run": "live.json",
}


def _given_recordings(page: Page) -> None:
    hands = few_hands()
    for i, (frames, label) in enumerate(zip(hands, hands.labels, strict=True)):
        assert page.studio.record(hands.class_names[label], f"given-{i:03d}", frames).status == 201
    assert page.studio.record("none", "given-idle", idle_part(STREAM)[:600]).status == 201
    page.studio("DELETE", "/api/classes/fist")
    page.driver.refresh()
    page.ready()
    page.click("#tab-train")
    assert "enough" in page.text("#enough")


def _train_with_two_stops(page: Page) -> list[dict[str, Any]]:
    """Train for every size, stop on the way, go on, come to the end."""
    page.script("document.querySelector('#epochs').append(new Option('for this test', '4', false, true))")
    page.click("#train")
    page.until(lambda: "epoch" in page.text("#train-state"), 60)
    page.click("#cancel")
    page.until(lambda: page.text("#train-state").startswith("Stopped"))
    page.click("#resume")
    page.until(lambda: "being judged" in page.text("#train-state"), 120)
    page.click("#cancel")
    page.until(lambda: page.text("#train-state").startswith("Stopped"))
    page.click("#resume")
    page.until(lambda: page.text("#train-state").startswith("Done"), 240)
    trainings = page.studio.server.project.trainings
    points = trainings.points(1)
    assert len(points) == len(RATES) and [p["flash"] for p in points] == sorted(p["flash"] for p in points)
    return points


def _move_the_slider(page: Page, points: list[dict[str, Any]]) -> None:
    """The slider moves without training, and says what each size finds and how sure that is."""
    trainings = page.studio.server.project.trainings
    assert "95 % certainty" in page.text("#outcome")
    page.find("#room").send_keys(str(points[2]["flash"] // 1000 + 1))
    page.click("#fit")
    page.until(lambda: trainings.chosen(1) == points[2]["name"])
    page.until(lambda: f"{points[2]['flash'] / 1000:.1f} kB" in page.text("#size-shown"))
    page.script("const s = document.querySelector('#size'); s.value = 6; s.dispatchEvent(new Event('input'))")
    assert f"{points[6]['flash'] / 1000:.1f} kB" in page.text("#size-shown")
    page.script("document.querySelector('#size').dispatchEvent(new Event('change'))")
    page.until(lambda: trainings.chosen(1) == points[6]["name"])
    assert len(trainings.numbers()) == 1


def _try(page: Page, tmp_path: Path) -> None:
    """Try: the module in the page names gestures, and answers are counted."""
    page.click("#tab-try")
    page.play(tmp_path / "stream.csv", STREAM.joints, speed=8)
    page.click("#try-start")
    page.until(lambda: len(page.driver.find_elements("css selector", "#events li")) >= 1, 60)
    named = page.text("#events li:last-child strong")
    assert named in FEW
    page.click("#events li:last-child button")
    page.until(lambda: "1 of 1 right" in page.text("#confusion"))
    page.choose("#missed", "pour")
    page.script("document.querySelector('#missed').dispatchEvent(new Event('change'))")
    page.until(lambda: "1 of 2 right" in page.text("#confusion"))
    page.click("#try-stop")
    page.click("#stop-source")


def _take_away(page: Page, point: str) -> None:
    """Take away: sizes are shown, and every package is what it says."""
    page.click("#tab-take")
    page.until(lambda: "making it" not in page.text("#packages"), 240)
    sizes = {what: page.text(f"[data-size='{what}']") for what in PACKAGES}
    wanted = ("kB as a zip", "MB as a zip") if mediapipe.installed() else ("kB as a zip", "--setup")
    assert all(size.endswith(wanted) or wanted[1] in size for size in sizes.values()), sizes
    for what, file in WANTED.items():
        data = page.studio("GET", f"/api/trainings/1/points/{point}/packages/{what}").body
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
        assert f"bandstop-{what}/{file}" in names, names


def test_from_recordings_to_a_package(page: Page, tmp_path: Path) -> None:
    _given_recordings(page)
    points = _train_with_two_stops(page)
    _move_the_slider(page, points)
    _try(page, tmp_path)
    _take_away(page, points[6]["name"])
