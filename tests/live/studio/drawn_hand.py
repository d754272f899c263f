"""A drawn hand that waves, as a camera file: enough of a hand for MediaPipe to find one.

The hand of :mod:`bandstop.skeleton.kinematics` is drawn as shaded capsules (bones with flesh) over a plain
wall and written as an uncompressed Y4M video, which Chromium plays as its fake camera.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bandstop.skeleton.kinematics import FINGER_JOINTS, hand_joints

WIDTH, HEIGHT = 640, 480
_RADII = {0: (11.5, 10.5, 9.5), 1: (9.5, 8.5, 7.6), 2: (10, 9, 8), 3: (9.5, 8.5, 7.6), 4: (8.2, 7.2, 6.6)}


def _capsules(joints: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, float, float]]:
    """Ends and radii in millimetres: forearm, palm, fingers."""
    wrist, bases = joints[0], joints[1:6]
    below = wrist + np.array([0.0, -170.0, 0.0])
    found = [(below, wrist, 33.0, 25.0)]
    found += [
        (wrist + (base - wrist) * 0.12, base, 21.0, 14.0 if i else 15.0) for i, base in enumerate(bases)
    ]
    found += [(bases[i], bases[i + 1], 12.0, 12.0) for i in range(1, 4)]
    for finger, chain in enumerate(FINGER_JOINTS):
        radii = (*_RADII[finger], _RADII[finger][-1] * 0.9)
        for k in range(3):
            found.append((joints[chain[k]], joints[chain[k + 1]], radii[k], radii[k + 1]))
    return found


def draw(joints: np.ndarray, centre: tuple[float, float], scale: float = 1.35) -> np.ndarray:
    """A picture [480, 640, 3] of the palm's side, values 0 to 1."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    wall = 0.62 + 0.12 * x / WIDTH - 0.1 * y / HEIGHT
    picture = np.stack([wall, wall * 1.01, wall * 1.05], axis=-1)
    depth = np.full((HEIGHT, WIDTH), -1e9)
    light = np.array([-0.35, 0.45, 0.82])
    for a, b, ra, rb in _capsules(joints * np.array([1.0, 1.0, -1.0])):
        pa, pb = ([centre[0] + p[0] * scale, centre[1] - p[1] * scale, p[2] * scale] for p in (a, b))
        along = np.array(pb[:2]) - np.array(pa[:2])
        share = ((x - pa[0]) * along[0] + (y - pa[1]) * along[1]) / max(along @ along, 1e-9)
        share = np.clip(share, 0, 1)
        dx, dy = x - (pa[0] + share * along[0]), y - (pa[1] + share * along[1])
        radius = scale * (ra + (rb - ra) * share)
        height = np.sqrt(np.maximum(radius**2 - dx**2 - dy**2, 0))
        z = pa[2] + share * (pb[2] - pa[2]) + height
        inside = (height > 0) & (z > depth)
        normal = np.stack([dx, -dy, height], axis=-1) / np.maximum(radius, 1e-9)[..., None]
        shade = 0.55 + 0.45 * np.clip(normal @ light, 0, 1)
        skin = np.array([0.93, 0.72, 0.60]) * shade[..., None]
        picture[inside], depth[inside] = skin[inside], z[inside]
    return np.clip(picture, 0, 1)


def write_camera_file(path: Path, frames: int = 24) -> Path:
    """A Y4M video in which the hand sways."""
    with path.open("wb") as stream:
        stream.write(f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F30:1 Ip A1:1 C420mpeg2\n".encode())
        for number in range(frames):
            angles = np.zeros(23)
            angles[[1, 5, 9, 13, 17]] = 0.08
            angles[[0, 4, 16]] = (-0.1, 0.12, 0.12)
            angles[22] = 0.25 * np.sin(2 * np.pi * number / frames)
            picture = draw(hand_joints(angles), (320 + 60 * np.sin(2 * np.pi * number / frames), 330.0))
            red, green, blue = np.moveaxis(picture * 255, -1, 0)
            luma = 16 + 0.257 * red + 0.504 * green + 0.098 * blue
            u = 128 - 0.148 * red - 0.291 * green + 0.439 * blue
            v = 128 + 0.439 * red - 0.368 * green - 0.071 * blue
            stream.write(b"FRAME\n")
            for plane in (luma, u[::2, ::2], v[::2, ::2]):
                stream.write(np.clip(np.rint(plane), 0, 255).astype(np.uint8).tobytes())
    return path
