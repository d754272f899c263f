"""Chromium for tests of the page, and landmark files for it to play."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bandstop.live import make_hand_streams
from bandstop.live.stream import Stream
from bandstop.live.studio.recordings import Recordings
from bandstop.skeleton import SequenceSet, make_hands

FEW = ("wave", "pour", "grasp")
CAMERA = (
    "--use-fake-ui-for-media-stream",
    "--use-fake-device-for-media-stream",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)
"""A camera that shows a file, and WebGL without a graphics card."""


def open_chromium(*more: str):
    """A headless Chromium under selenium, or a skip with the reason."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("chromium and chromium-driver are not installed (tools/apt-packages.txt)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for word in ("--headless=new", "--no-sandbox", "--window-size=1280,1000", *more):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def few_hands(people: int = 4, repetitions: int = 3) -> SequenceSet:
    """Cut-outs of three gestures."""
    hands = make_hands(3, train_people=people, test_people=1, repetitions=repetitions)
    wanted = [hands.class_names.index(name) for name in FEW]
    return hands.subset(np.isin(hands.labels, wanted) & (hands.split == "train"))


def recorded_folder(folder: Path) -> Path:
    """The three gestures as a folder of recordings."""
    hands, kept = few_hands(), Recordings(folder, folder.parent / "bin")
    for i, (frames, label) in enumerate(zip(hands, hands.labels, strict=True)):
        kept.save(hands.class_names[label], f"given-{i:03d}", frames)
    return folder


def a_stream(seed: int = 11) -> Stream:
    """A stream with all gestures, from which idle parts and trials are taken."""
    return make_hand_streams(seed, people=(1, 1, 1), repetitions=(1, 1, 1)).train[0]


def idle_part(stream: Stream) -> np.ndarray:
    """The longest part of a stream without a gesture."""
    edges = [0, *(edge for g in stream.gestures for edge in (g.begin - 15, g.end + 20)), len(stream)]
    gaps = list(zip(edges[::2], edges[1::2], strict=True))
    begin, end = max(gaps, key=lambda gap: gap[1] - gap[0])
    return stream.joints[begin:end]


def landmark_file(path: Path, frames: Sequence[np.ndarray] | np.ndarray) -> Path:
    """A CSV of frames as the page opens it."""
    rows = [",".join(f"{value:.5g}" for value in np.asarray(frame).ravel()) for frame in frames]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def until(true: Callable[[], Any], seconds: float = 60) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s in vain"
        time.sleep(0.1)
