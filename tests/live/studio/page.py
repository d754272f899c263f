"""What a user does on the studio's page, in words for tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.live.studio.browser import landmark_file
from tests.live.studio.conftest import Visitor


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
        """Press something, found anew where the page has just drawn it again."""
        from selenium.common.exceptions import StaleElementReferenceException

        for _ in range(5):
            with suppress(StaleElementReferenceException):
                self.find(selector).click()
                return
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
