"""From recordings to a package, on the page in a real browser."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from bandstop.live.studio.takeaway import PACKAGES
from tests.live.studio.browser import FEW, a_stream, few_hands, idle_part
from tests.live.studio.page import Page

STREAM = a_stream()


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
    sizes = {what: page.text(f"[data-size='{what}']") for what in PACKAGES}
    assert all("kB" in size or "bytes" in size for size in sizes.values()), sizes
    data = page.studio("GET", "/api/trainings/1/packages/c").body
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert "bandstop-c/recogniser_live.c" in names and "bandstop-c/recogniser.h" in names
