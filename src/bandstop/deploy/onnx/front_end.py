"""Raw joints to the input of an ONNX file: `python NAME_input.py NAME.onnx frames.npy` prints the class.

This file is written beside every exported ONNX file. It needs numpy, and onnxruntime to run the network.
``frames.npy`` holds x, y, z of every joint of every frame, ``[frames, joints, 3]``, as recorded; or x, y.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

__all__ = ["chunk_averages", "network_input"]

STEP = 2.0
LAGS = {"steps": 1, "slow": 4}
FLAT = 1e-3


def chunk_averages(frames: Any, chunks: int) -> Any:
    """Averages over ``chunks`` equal parts of a sequence; shorter sequences are interpolated."""
    length = len(frames)
    times = np.linspace(0, 1, chunks + 1) * length
    if length >= chunks:
        before = np.concatenate([np.zeros_like(frames[:1]), frames.cumsum(axis=0)])
        whole = np.minimum(np.floor(times).astype(int), length - 1)
        integral = before[whole] + (times - whole)[:, None, None] * frames[whole]
        return np.diff(integral, axis=0) / np.diff(times)[:, None, None]
    centres = np.clip((times[:-1] + times[1:]) / 2 - 0.5, 0, length - 1)
    low = np.floor(centres).astype(int)
    share = (centres - low)[:, None, None]
    return (1 - share) * frames[low] + share * frames[np.minimum(low + 1, length - 1)]


def network_input(frames: Any, normaliser: dict[str, Any]) -> Any:
    """The network's input ``[1, joints, values]``; ``normaliser`` is in the metadata of the ONNX file."""
    frames = _in_space(np.asarray(frames, np.float64), len(normaliser["node_scale"]))
    chunks = chunk_averages(frames, normaliser["chunks"])
    number, edges = normaliser["root"], np.array(normaliser["edges"], int).reshape(-1, 2)
    root = chunks[:, number]
    if len(edges):
        size = np.linalg.norm(chunks[:, edges[:, 0]] - chunks[:, edges[:, 1]], axis=-1).mean()
    else:
        size = np.sqrt(np.square(chunks - root[:, None]).sum(-1).mean())
    relative = chunks - root[:, None]
    relative[:, number] = root - root.mean(axis=0)
    body = relative / normaliser.get("unit", max(size, 1e-9))
    if "facing" in normaliser:
        body = _turned(body, *normaliser["facing"])
    scaled = body / np.array(normaliser["node_scale"])[:, None]
    if normaliser.get("parts"):
        return _composed(scaled, body, len(frames), normaliser)[None].astype(np.float32)
    by_joint = scaled.transpose(1, 0, 2)
    parts = [by_joint.reshape(len(by_joint), -1)]
    if "duration" in normaliser:
        mean, deviation = normaliser["duration"]
        steps = STEP * np.diff(by_joint, axis=1)
        lasting = np.full((len(by_joint), 1), (np.log(len(frames)) - mean) / deviation)
        parts += [steps.reshape(len(by_joint), -1), lasting]
    return np.concatenate(parts, axis=1)[None].astype(np.float32)


def _in_space(frames: Any, joints: int) -> Any:
    """Frames of x, y, z; those of x, y lie in the plane z = 0."""
    if frames.ndim != 3 or frames.shape[1] != joints or frames.shape[2] not in (2, 3) or not len(frames):
        rule = f"[frames, {joints}, 3] as in training (or [frames, {joints}, 2], in the plane z = 0)"
        raise ValueError(f"frames must have shape {rule}, found {list(frames.shape)}")
    flat = frames.shape[2] == 2
    return np.concatenate([frames, np.zeros_like(frames[:, :, :1])], axis=2) if flat else frames


def _turned(body: Any, one: int, other: int) -> Any:
    """Turned so that in the first chunk joint ``one`` lies on the x axis, and joint ``other`` above it."""
    x, q = body[0, one], body[0, other]
    if np.linalg.norm(x) <= FLAT:
        return body
    x = x / np.linalg.norm(x)
    y = q - (q @ x) * x
    if np.linalg.norm(y) <= FLAT:
        return body
    y = y / np.linalg.norm(y)
    return body @ np.stack([x, y, np.cross(x, y)], axis=1)


def _composed(scaled: Any, body: Any, length: int, normaliser: dict[str, Any]) -> Any:
    """Signals that hold several values of a joint in each chunk, ``[joints, values]``."""
    found = [scaled]
    for part in normaliser["parts"][1:]:
        values = _part(part["name"], body, length, normaliser)
        offset, scale = part["offset"] or np.zeros(body.shape[1]), part["scale"] or np.ones(body.shape[1])
        found.append((values - np.array(offset)[:, None]) / np.array(scale)[:, None])
    return np.concatenate(found, axis=2).transpose(1, 0, 2).reshape(body.shape[1], -1)


def _part(name: str, body: Any, length: int, normaliser: dict[str, Any]) -> Any:
    """One part of all joints in all chunks, ``[chunks, joints, axes]``."""
    joints, edges, root = body.shape[1], normaliser["edges"], normaliser["root"]
    if name in LAGS:
        moved = np.zeros_like(body)
        moved[LAGS[name] :] = body[LAGS[name] :] - body[: -LAGS[name]]
        return moved
    if name == "moment":
        count = len(body)
        line = np.linspace(-np.sqrt(3), np.sqrt(3), count) if count > 1 else np.zeros(1)
        return np.broadcast_to(line[:, None, None], (count, joints, 1))
    if name == "duration":
        mean, deviation = normaliser["duration"]
        return np.full((*body.shape[:2], 1), (np.log(length) - mean) / deviation)
    ends = list(range(joints))
    if name == "bones":
        reached = [root]
        for joint in reached:
            for a, b in edges:
                other = b if a == joint else a if b == joint else joint
                if other not in reached:
                    ends[other] = joint
                    reached.append(other)
    else:
        bones = [sum(joint in edge for edge in edges) for joint in range(joints)]
        tips = [joint for joint in range(joints) if bones[joint] == 1 and joint != root]
        for tip, following in zip(tips, [*tips[1:], *tips[:1]], strict=True):
            ends[tip] = following
    apart = np.array(ends) != np.arange(joints)
    between = body - body[:, ends] * apart[:, None]
    return between if name == "bones" else np.linalg.norm(between, axis=2, keepdims=True)


def _main(model: str, frames: str) -> None:
    import onnxruntime

    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    facts = session.get_modelmeta().custom_metadata_map
    try:
        given = network_input(np.load(frames), json.loads(facts["normaliser"]))
    except ValueError as error:
        sys.exit(f"{frames}: {error}")
    scores = session.run(None, {"input": given})[0][0]
    print(json.loads(facts["class_names"])[int(scores.argmax())], float(scores.max()))


if __name__ == "__main__":
    _main(*sys.argv[1:3])
