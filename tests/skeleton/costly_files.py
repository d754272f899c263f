"""Files that would eat a machine: small or plain to look at, costly to read."""

from __future__ import annotations

import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.skeleton.sample_trees import small_set, write

SIZE = 16 * 2**20


Content = Callable[[], bytes]
"""Made when it is asked for: together these files are large."""


def pickled(content: Content) -> Callable[[Path], str]:
    return lambda at: f"pyskl:{write(at / 'set.pkl', content())}"


def named_often(at: Path) -> str:
    item = {"frame_dir": "a", "label": 0, "keypoint": np.zeros((1, 5000, 17, 3), np.float32)}
    return f"pyskl:{write(at / 'set.pkl', pickle.dumps([item] * 100_000))}"


def matlab(elements: Content) -> Callable[[Path], str]:
    head = b"MATLAB 5.0".ljust(124) + b"\x00\x01IM"
    return lambda at: f"utd-mhad:{write(at / 'a1_s1_t1_skeleton.mat', head + elements()).parent}"


def matrix(name: bytes, declared: int, values: bytes) -> bytes:
    """A matrix of doubles, stored as bytes of which there are fewer than it says."""
    parts = [
        struct.pack("<IIII", 6, 8, 6, 0),
        struct.pack("<IIiiii", 5, 12, 20, 3, declared // 60, 0),
        struct.pack("<II", 1, len(name)) + name.ljust(-(-len(name) // 8) * 8, b"\0"),
        struct.pack("<II", 2, declared) + values,
    ]
    body = b"".join(parts)
    return struct.pack("<II", 14, len(body)) + body


def packed(element: bytes) -> bytes:
    stream = zlib.compress(element, 9)
    return struct.pack("<II", 15, len(stream)) + stream


def archive(changes: Callable[[], dict[str, np.ndarray]]) -> Callable[[Path], str]:
    def make(at: Path) -> str:
        s = small_set()
        names = ("joints", "offsets", "labels", "subjects", "split", "edges")
        arrays = {name: getattr(s, name) for name in names} | {"class_names": np.array(s.class_names)}
        at.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(at / "set.npz", **(arrays | changes()))
        return str(at / "set.npz")

    return make


def many_members(at: Path) -> str:
    at.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(at / "set.npz", "w") as file:
        for i in range(25_000):
            file.writestr(f"{i}.npy", b"")
    return str(at / "set.npz")


def claims_much(at: Path) -> str:
    """A member whose header promises what the archive says it unpacks to, but is not there."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f4", "fortran_order": False, "shape": (10**8, 3, 3)}
    )
    at.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(at / "set.npz", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("joints.npy", stream.getvalue())
    content = bytearray((at / "set.npz").read_bytes())
    size = struct.pack("<I", len(stream.getvalue()))
    lie = struct.pack("<I", 36 * 10**8)
    for place in (content.find(b"PK\x03\x04") + 22, content.find(b"PK\x01\x02") + 24):
        assert content[place : place + 4] == size
        content[place : place + 4] = lie
    write(at / "set.npz", bytes(content))
    return str(at / "set.npz")


def text(name: str, content: Content, form: str = "{}") -> Callable[[Path], str]:
    def make(at: Path) -> str:
        write(at / "wave" / name, content())
        return form.format(at)

    return make


def wrong_shape(at: Path) -> str:
    (at / "wave").mkdir(parents=True, exist_ok=True)
    np.save(at / "wave" / "a.npy", np.zeros((2**19, 21, 5, 1)))
    return str(at)


NEARLY = SIZE // 60 * 60 - 6000
TINY = packed(matrix(b"other", 60, bytes(60)))

COSTLY: dict[str, Callable[[Path], str]] = {
    "pickle of marks": pickled(lambda: b"(" * SIZE),
    "pickle of nones": pickled(lambda: b"N" * SIZE),
    "pickle of lists": pickled(lambda: b"]" * SIZE),
    "pickle of lists in a list": pickled(lambda: b"]" + b"]a" * (SIZE // 2)),
    "pickle of dictionaries": pickled(lambda: b"}" * SIZE),
    "pickle of one value": pickled(lambda: b"]q\x00" + b"h\x00" * (SIZE // 2)),
    "pickle of marks in a frame": pickled(
        lambda: b"\x80\x04\x95" + struct.pack("<Q", SIZE) + b"(N1" * (SIZE // 3)
    ),
    "pickle of bytes, then nones": pickled(
        lambda: b"B" + struct.pack("<I", SIZE) + bytes(SIZE) + b"N" * SIZE
    ),
    "pickle of numbers": pickled(lambda: b"(" + b"G" + bytes(8) + b"K\x01" * (SIZE // 2) + b"l."),
    "one array named often": named_often,
    "mat that unpacks to a gigabyte": matlab(
        lambda: packed(matrix(b"d_skel", 2**30 // 60 * 60, bytes(2**27)))
    ),
    "mat of bytes that become doubles": matlab(lambda: matrix(b"d_skel", NEARLY, bytes(NEARLY + 32))),
    "mat of many variables": matlab(lambda: matrix(b"other", 60, bytes(64)) * 150_000),
    "mat of many packed variables": matlab(lambda: TINY * (SIZE // len(TINY) - 9)),
    "archive of zeros": archive(
        lambda: {"joints": np.zeros((10**5, 64, 3), np.float32), "offsets": np.array([0, 10**5])}
    ),
    "archive of many ids": archive(lambda: {"sequence_ids": np.zeros(10, "U2000000")}),
    "archive of many labels": archive(lambda: {"labels": np.zeros(8 * 10**7, np.int8)}),
    "archive of wrapped offsets": archive(
        lambda: {"offsets": np.array([0, 2**62 + 4, 8 - 2**63, 12 - 2**62, 16])}
    ),
    "archive of unsigned offsets": archive(
        lambda: {"offsets": np.array([0, 2**64 - 1, 4, 8, 16], np.uint64)}
    ),
    "archive of many members": many_members,
    "archive that claims much": claims_much,
    "csv of blank lines": text("a.csv", lambda: b"\n" * SIZE),
    "csv of one line": text("a.csv", lambda: b"1," * (SIZE // 2 - 1) + b"1"),
    "csv of one column": text("a.csv", lambda: b"1\n" * (SIZE // 2)),
    "csv header of many names": text("a.csv", lambda: b"a," * (SIZE // 2 - 9) + b"b\n1,2"),
    "json of lists": text("a.json", lambda: b"[" + b"[]," * (SIZE // 3 - 1) + b"[]]", "mediapipe:{}"),
    "json of objects": text("a.json", lambda: b"[" + b"{}," * (SIZE // 3 - 1) + b"{}]", "mediapipe:{}"),
    "json of numbers": text("a.json", lambda: b"[" + b"1.5," * (SIZE // 4 - 1) + b"1]", "mediapipe:{}"),
    "json of brackets": text("a.json", lambda: b"[" * (SIZE - 8), "mediapipe:{}"),
    "json lines of nothing": text("a.jsonl", lambda: b"\n" * (SIZE - 8), "mediapipe:{}"),
    "json lines of nulls": text("a.jsonl", lambda: b"[]\n" * (SIZE // 3), "mediapipe:{}"),
    "text that is wide": text("a.csv", lambda: b"\xf0\x9f\x98\x80" + b"1," * (SIZE // 2 - 8), "{}"),
    "sequence of a wrong shape": wrong_shape,
}
"""Case → what writes it into a folder and says how it is loaded."""
