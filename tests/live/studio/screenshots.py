"""The whole journey of a first-time user, with a picture of every step: those of docs/studio.md.

    python -m tests.live.studio.screenshots docs/assets

Needs Chromium and MediaPipe's files (`bandstop studio --setup`). A drawn hand is before the camera; gestures
are files of the embedded hands; training is real and takes a minute or two. Every visible word is printed.
"""

from __future__ import annotations

import base64
import functools
import io
import sys
import tempfile
import threading
import zipfile
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from PIL import Image

from bandstop.live.studio import mediapipe
from tests.live.studio.browser import (
    CAMERA,
    FEW,
    a_stream,
    few_hands,
    idle_part,
    landmark_file,
    open_chromium,
    until,
)
from tests.live.studio.conftest import QuietHandler, Visitor, started
from tests.live.studio.drawn_hand import write_camera_file
from tests.live.studio.page import Page

WIDE, PHONE = (1240, 1000), (390, 844)


class Album:
    """Takes pictures of a page, and prints what can be read on it."""

    def __init__(self, driver: Any, folder: Path) -> None:
        self.driver, self.folder = driver, folder

    def take(self, name: str, size: tuple[int, int] = WIDE) -> None:
        """A picture of the whole page, as high as it is."""
        self.driver.set_window_size(*size)
        self.driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
        script = "return document.body.getBoundingClientRect().height"
        high = min(1300, int(self.driver.execute_script(script)) + 10)
        where = {"x": 0, "y": 0, "width": size[0], "height": high, "scale": 1}
        asked = {"format": "png", "captureBeyondViewport": True, "clip": where}
        made = self.driver.execute_cdp_cmd("Page.captureScreenshot", asked)["data"]
        picture = Image.open(io.BytesIO(base64.b64decode(made))).convert("RGB").quantize(128)
        picture.save(self.folder / f"studio-{name}.png", optimize=True)
        self.read(name)

    def read(self, name: str) -> None:
        """Print what can be read now."""
        print(f"\n=== {name}\n{self.driver.find_element('tag name', 'body').text}", flush=True)


def _record(page: Page, album: Album, scratch: Path) -> None:
    album.read("empty")
    hands, stream = few_hands(people=8), a_stream()
    for name in FEW:
        page.find("#class-name").send_keys(f"{name}\n")
        page.until(lambda name=name: page.driver.find_elements("css selector", f"[data-class='{name}']"))
    for name in FEW:
        mine = (hands.labels == hands.class_names.index(name)).nonzero()[0]
        files = [landmark_file(scratch / f"{name}{i}.csv", hands[i]) for i in mine]
        page.click(f"[data-class='{name}']")
        page.find("#add-files").send_keys("\n".join(map(str, files)))
        said = f"Added {len(files)} of {len(files)} files to {name}"
        page.until(lambda said=said: said in page.text("#recording-state"), 60)
    page.play(scratch / "idle.csv", idle_part(stream), speed=8)
    page.choose("#count-from", "0")
    page.click("#record-idle")
    page.until(lambda: any(name.startswith("none") for name in page.stored()), 60)
    page.click("#stop-source")


def _camera(page: Page, album: Album) -> None:
    page.click("#use-camera")
    page.until(lambda: "A hand is seen" in page.text("#source-state"), 300)
    album.take("record")
    album.take("phone", PHONE)


def _train(page: Page, album: Album) -> None:
    page.click("#tab-train")
    page.choose("#epochs", "80")
    page.click("#train")
    page.until(lambda: page.text("#train-state").startswith("Done"), 1200)
    album.take("train")


def _try(page: Page, album: Album, scratch: Path) -> None:
    page.click("#tab-try")
    page.play(scratch / "stream.csv", a_stream(12).joints, speed=8)
    page.click("#try-start")
    waiting = "#events li button"
    for _ in range(2):
        page.until(lambda: page.driver.find_elements("css selector", waiting), 60)
        page.click(waiting)
    page.until(lambda: page.driver.find_elements("css selector", waiting), 60)
    album.take("try")
    page.click("#try-stop")
    page.click("#stop-source")


def _take_away(page: Page, album: Album, site: Path) -> None:
    page.click("#tab-take")
    page.until(lambda: "making it" not in page.text("#packages"), 300)
    album.take("take")
    trainings = page.studio.server.project.trainings
    data = page.studio("GET", f"/api/trainings/1/points/{trainings.chosen(1)}/packages/page").body
    zipfile.ZipFile(io.BytesIO(data)).extractall(site)


def _exported(driver: Any, album: Album, site: Path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(QuietHandler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    driver.get(f"http://127.0.0.1:{server.server_port}/bandstop-page/recogniser-page/")
    until(lambda: driver.execute_script("return document.body.dataset.ready") == "yes")
    driver.find_element("id", "use-camera").click()
    until(lambda: driver.find_element("id", "source-state").text == "A hand is seen.", 180)
    album.take("page")
    server.shutdown()


def main(folder: Path) -> int:
    """Go through the studio once."""
    if not mediapipe.installed():
        print("MediaPipe's files are missing: run `bandstop studio --setup` once", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="bandstop-") as made:
        scratch = Path(made)
        film = write_camera_file(scratch / "hand.y4m", frames=1)
        server, thread = started(scratch / "my_gestures")
        plain, watching = open_chromium(), None
        try:
            page, album = Page(plain, Visitor(server)).open(), Album(plain, folder)
            _record(page, album, scratch)
            _train(page, album)
            _try(page, album, scratch)
            _take_away(page, album, scratch / "site")
            watching = open_chromium(*CAMERA, f"--use-file-for-fake-video-capture={film}")
            watching.set_script_timeout(180)
            album = Album(watching, folder)
            _exported(watching, album, scratch / "site")
            _camera(Page(watching, Visitor(server)).open(), album)
        finally:
            for driver in (plain, watching):
                if driver is not None:
                    driver.quit()
            server.stop()
            thread.join(timeout=20)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
