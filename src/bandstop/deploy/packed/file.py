"""The smallest file of a network: coded gaps between connections, 8-bit or half values, names, normaliser.

Layout: ``BSN1``, value kind (1 byte; 0: 8-bit, 1: half), length of the packed description (2 bytes), the
description (JSON, raw deflate with the dictionary `WORDS`), then every tensor in the order of the network's
own parameters. A matrix: number of kept weights (varint), Rice parameter (1 byte), scale (float32, for
8-bit values), coded gaps, values. A vector: half values. Numbers are little-endian. Batch normalisation is
folded first, so one offset per channel is all that is left of it.
"""

from __future__ import annotations

import json
import struct
import zlib
from typing import Literal

import numpy as np
import torch

from bandstop.deploy.ir.program import Floats
from bandstop.deploy.lower import folded
from bandstop.deploy.lower.batchnorm import array, stored_tensors
from bandstop.deploy.model import DeployModel
from bandstop.deploy.packed.description import describe, rebuild
from bandstop.deploy.packed.rice import best_parameter, rice_decode, rice_encode
from bandstop.errors import ConfigError, ExportError

__all__ = ["Values", "from_bytes", "to_bytes"]

MAGIC = b"BSN1"
LARGEST_DESCRIPTION = 1 << 20
Values = Literal["8-bit", "half"]
WORDS = (
    b'"kind":"lstm","hidden":100,"layers":1,"channels":16,"heads":8,"filters":32,"dense":'
    b"|left |right |hip|knee|ankle|foot|shoulder|elbow|hand|spine|chest|neck|head|nose|eye|ear|pelvis"
    b"|walk|run|sit|stand|jump|wave|push|pull|kick|throw|catch|turn|point|grab|swipe|tap|open_|close_|put_|take_|pour_|use_"
    b'{"n":{},"c":"{"n":{"combine":"sum"},"c":"","j":"'
    b"wrist|thumb mcp|index mcp|middle mcp|ring mcp|little mcp|thumb pip|thumb dip|thumb tip|index pip"
    b"|index dip|index tip"
    b"|middle pip|middle dip|middle tip|ring pip|ring dip|ring tip|little pip|little dip|little tip"
    b'","u":"as in the training data","r":0,"m":32,"e":[0,1,0,2,0,3,0,4,0,5,1,6,2,9,3,12,4,15,5,18,6,7,7,8,9'
    b",10,10,11,12,13,"
    b'13,14,15,16,16,17,18,19,19,20],"s":[1.'
)
"""What most descriptions have in common, so that it need not be stored: keys, body parts, one hand's bones.

Part of the format: a changed word makes older files unreadable, so a new text needs a new mark at the
file's start.
"""


def to_bytes(model: DeployModel, *, values: Values = "8-bit") -> bytes:
    """The file's content."""
    described = json.dumps(describe(model), separators=(",", ":"), ensure_ascii=False).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=WORDS)
    packed = packer.compress(described) + packer.flush()
    parts = [MAGIC, bytes([values == "half"]), struct.pack("<H", len(packed)), packed]
    for _, tensor in stored_tensors(folded(model.net)):
        stored = array(tensor)
        parts.append(_matrix(stored, values) if stored.ndim > 1 else stored.astype("<f2").tobytes())
    return b"".join(parts)


def from_bytes(data: bytes) -> DeployModel:
    """The network and what goes with it; its weights dense again, pruned ones exactly zero."""
    if data[:4] != MAGIC or len(data) < 7:
        raise ExportError("this is not a bandstop network file: it must begin with BSN1")
    half, length = data[4] == 1, struct.unpack("<H", data[5:7])[0]
    try:
        text = zlib.decompressobj(-15, zdict=WORDS).decompress(data[7 : 7 + length], LARGEST_DESCRIPTION)
        described = json.loads(text)
        model = rebuild(described)
    except (zlib.error, ValueError, KeyError, TypeError, RuntimeError, ConfigError) as problem:
        raise ExportError(f"the description in the file cannot be read: {problem}") from None
    rest = data[7 + length :]
    with torch.no_grad():
        for name, tensor in stored_tensors(model.net):
            stored, used = _read(rest, tuple(tensor.shape), half=half, name=name)
            tensor.copy_(torch.from_numpy(stored))
            rest = rest[used:]
    if rest:
        raise ExportError(f"the file has {len(rest)} bytes after its end")
    return model


def _matrix(matrix: Floats, values: Values) -> bytes:
    flat = matrix.ravel()
    index = np.flatnonzero(flat)
    kept = flat[index]
    scale = float(np.abs(kept).max(initial=0.0)) / 127
    small = np.rint(kept / scale).astype(np.int8) if scale else np.zeros(0, np.int8)
    if values == "8-bit":
        index, small = index[small != 0], small[small != 0]
    gaps = (np.diff(index, prepend=-1) - 1).tolist()
    k = best_parameter(gaps)
    head = _varint(len(index)) + bytes([k])
    if values == "half":
        return head + rice_encode(gaps, k) + kept.astype("<f2").tobytes()
    return head + struct.pack("<f", scale) + rice_encode(gaps, k) + small.tobytes()


def _read(data: bytes, shape: tuple[int, ...], *, half: bool, name: str) -> tuple[Floats, int]:
    size = int(np.prod(shape))
    if len(shape) < 2:
        if len(data) < 2 * size:
            raise ExportError(f"the file is cut short in {name}")
        return np.frombuffer(data[: 2 * size], "<f2").astype(np.float32).reshape(shape), 2 * size
    count, at = _read_varint(data, name)
    if count > size or len(data) < at + 5:
        raise ExportError(f"the file is damaged in {name}: {count} weights kept of {size}")
    k, scale = data[at], 1.0
    at += 1
    if not half:
        scale = struct.unpack("<f", data[at : at + 4])[0]
        at += 4
    gaps, used = rice_decode(data[at:], count, k) if k <= 30 else ([size], 0)
    at += used
    if max(gaps, default=0) >= size:
        raise ExportError(f"the file is damaged in {name}: a weight lies outside of it")
    index = np.cumsum(np.array(gaps, dtype=np.int64) + 1) - 1
    width = 2 if half else 1
    if (count and index[-1] >= size) or len(data) < at + width * count:
        raise ExportError(f"the file is damaged in {name}: a weight lies outside of it")
    flat = np.zeros(size, np.float32)
    stored = np.frombuffer(data[at : at + width * count], "<f2" if half else np.int8)
    flat[index] = stored.astype(np.float32) * np.float32(scale)
    return flat.reshape(shape), at + width * count


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _read_varint(data: bytes, name: str) -> tuple[int, int]:
    value = 0
    for at, byte in enumerate(data[:5]):
        value |= (byte & 127) << (7 * at)
        if byte < 128:
            return value, at + 1
    raise ExportError(f"the file is cut short in {name}")
