"""Keyboard, screen readers and narrow screens: the page in every step, as axe-core and a phone see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.live.studio.axe import violations
from tests.live.studio.browser import a_stream
from tests.live.studio.conftest import Visitor
from tests.live.studio.page import Page

STREAM = a_stream()
STEPS = ("record", "train", "try", "take")


def given_training(studio: Visitor) -> None:
    """A finished training of three sizes, as a worker leaves it behind."""
    place = studio.server.project.trainings.place(1)
    place.mkdir(parents=True)
    (place / "job.json").write_text(json.dumps({"recordings": "r", "out": str(place / "run"), "many": True}))
    (place / "outcome.json").write_text(json.dumps({"state": "done", "seconds": 12, "class_names": ["a"]}))
    measures = {"gestures": 12, "detection_rate": 0.9, "false_alarms_per_minute": 0.5, "delay_frames": 3}
    for name, flash in (("0.500", 87_000), ("0.940", 15_000), ("0.990", 5_700)):
        (place / "points" / name).mkdir(parents=True)
        known = {"name": name, "rate": float(name), "weights_kept": 100, "weights_total": 200, "flash": flash}
        known |= {"ram": 84_000, "wasm": 20_000, "measures": measures, "detection_interval": [0.6, 0.98]}
        (place / "points" / name / "point.json").write_text(json.dumps({**known, "met": True}))


@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_in_any_step(page: Page, tmp_path: Path, width: int) -> None:
    given_training(page.studio)
    page.driver.set_window_size(width, 900)
    try:
        page.driver.refresh()
        page.ready()
        page.play(tmp_path / "play.csv", STREAM.joints[:90])
        page.record("fist")
        page.until(lambda: len(page.stored()) == 1)
        for step in STEPS:
            page.click(f"#tab-{step}")
            assert violations(page.driver) == [], step
    finally:
        page.driver.set_window_size(1280, 1000)


def test_axe_finds_nothing_in_dark_colours(page: Page) -> None:
    given_training(page.studio)
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        for step in STEPS:
            page.click(f"#tab-{step}")
            assert violations(page.driver) == [], step
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_everything_on_a_phone_is_large_enough_to_touch(page: Page) -> None:
    given_training(page.studio)
    page.driver.set_window_size(390, 844)
    try:
        page.driver.refresh()
        page.ready()
        for step in STEPS:
            page.click(f"#tab-{step}")
            small = page.script(
                "return [...document.querySelectorAll('button, select, a.button, label.button')]"
                ".filter((e) => e.offsetParent && e.offsetHeight < 36).map((e) => e.outerHTML)"
            )
            assert small == [], step
            wide, room = page.script("return [document.scrollingElement.scrollWidth, innerWidth]")
            assert wide <= room, step
    finally:
        page.driver.set_window_size(1280, 1000)


def test_the_size_is_chosen_with_keys(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    given_training(page.studio)
    page.driver.refresh()
    page.ready()
    page.click("#tab-train")
    trainings = page.studio.server.project.trainings
    page.until(lambda: page.find("#size").is_displayed())
    page.find("#size").send_keys(Keys.HOME)
    page.until(lambda: trainings.chosen(1) == "0.990")
    page.find("#size").send_keys(Keys.ARROW_RIGHT)
    page.until(lambda: trainings.chosen(1) == "0.940")
    assert "15.0 kB of flash" in page.find("#size").get_attribute("aria-valuetext")
