"""The smallest file of a network: coded gaps between kept connections, 8-bit or half values, names and normaliser packed.

Layout: ``BSN1``, value kind, length of the packed description (2 bytes), the description (JSON, deflated from the words of `bytes_words`), then every tensor
in the order of the network's own parameters. A matrix: number of kept weights (varint), Rice parameter, scale (float32, for
8-bit values), coded gaps, values. A vector: half values. Batch normalisation is folded first, so one offset per channel is
all that is left of it.
"""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import asdict
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from bandstop.deploy.lower.folded import folded_net, stored_tensors
from bandstop.deploy.model import DeployModel
from bandstop.deploy.packed.rice import best_parameter, rice_decode, rice_encode
from bandstop.deploy.packed.words import WORDS
from bandstop.errors import ConfigError, ExportError
from bandstop.nets import GCN, LSTMRecogniser, NetConfig, build_net
from bandstop.skeleton.normalise import Normaliser

__all__ = ["Values", "from_bytes", "to_bytes"]

MAGIC = b"BSN1"
LARGEST_DESCRIPTION = 1 << 20
MOST_WEIGHTS = 50_000_000
Values = Literal["8-bit", "half"]
Floats = NDArray[np.float32]


def to_bytes(model: DeployModel, *, values: Values = "8-bit") -> bytes:
    """The file's content."""
    described = json.dumps(_describe(model), separators=(",", ":"), ensure_ascii=False).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=WORDS)
    packed = packer.compress(described) + packer.flush()
    parts = [MAGIC, bytes([values == "half"]), struct.pack("<H", len(packed)), packed]
    for _, tensor in stored_tensors(folded_net(model.net)):
        array = tensor.detach().numpy().astype(np.float32)
        parts.append(_matrix(array, values) if array.ndim > 1 else array.astype("<f2").tobytes())
    return b"".join(parts)


def from_bytes(data: bytes) -> DeployModel:
    """The network and what goes with it; its weights dense again, pruned ones exactly zero."""
    if data[:4] != MAGIC or len(data) < 7:
        raise ExportError("this is not a bandstop network file: it must begin with BSN1")
    half, length = data[4] == 1, struct.unpack("<H", data[5:7])[0]
    try:
        text = zlib.decompressobj(-15, zdict=WORDS).decompress(data[7 : 7 + length], LARGEST_DESCRIPTION)
        described = json.loads(text)
        net, model = _rebuild(described)
    except (zlib.error, ValueError, KeyError, TypeError, RuntimeError, ConfigError) as problem:
        raise ExportError(f"the description in the file cannot be read: {problem}") from None
    rest = data[7 + length :]
    with torch.no_grad():
        for name, tensor in stored_tensors(net):
            array, used = _read(rest, tuple(tensor.shape), half=half, name=name)
            tensor.copy_(torch.from_numpy(array))
            rest = rest[used:]
    if rest:
        raise ExportError(f"the file has {len(rest)} bytes after its end")
    return model


def _matrix(array: Floats, values: Values) -> bytes:
    flat = array.ravel()
    places = np.flatnonzero(flat)
    kept = flat[places]
    scale = float(np.abs(kept).max(initial=0.0)) / 127
    small = np.rint(kept / scale).astype(np.int8) if scale else np.zeros(0, np.int8)
    if values == "8-bit":
        places, small = places[small != 0], small[small != 0]
    gaps = (np.diff(places, prepend=-1) - 1).tolist()
    k = best_parameter(gaps)
    head = _varint(len(places)) + bytes([k])
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
    places = np.cumsum(np.array(gaps, dtype=np.int64) + 1) - 1
    width = 2 if half else 1
    if (count and places[-1] >= size) or len(data) < at + width * count:
        raise ExportError(f"the file is damaged in {name}: a weight lies outside of it")
    flat = np.zeros(size, np.float32)
    stored = np.frombuffer(data[at : at + width * count], "<f2" if half else np.int8)
    flat[places] = stored.astype(np.float32) * np.float32(scale)
    return flat.reshape(shape), at + width * count


def _describe(model: DeployModel) -> dict[str, object]:
    net = model.net
    if model.normaliser is None or not isinstance(net, GCN | LSTMRecogniser):
        raise ExportError(
            f"the bytes format holds skeleton recognisers (GCN, LSTM), found {type(net).__name__}"
        )
    config: dict[str, object] = {}
    if isinstance(net, GCN):
        heads, channels, filters = net.graph.filters.shape
        config = {"channels": channels, "heads": heads, "filters": filters, "combine": net.graph.combine}
        config["dense"] = 0 if net.dense is None else net.dense.out_features
        config = {k: v for k, v in config.items() if v != getattr(NetConfig(), k)}
    else:
        config = {"kind": "lstm", "hidden": net.lstm.hidden_size, "layers": net.lstm.num_layers}
    n = model.normaliser
    lasting = {} if n.duration is None else {"d": n.duration}
    return {
        "n": config,
        "c": "|".join(name.replace("|", "/") for name in model.class_names),
        "j": "|".join(name.replace("|", "/") for name in model.joint_names),
        "u": model.units,
        "r": n.root,
        "m": n.chunks,
        "e": [end for edge in n.edges for end in edge],
        "s": [float(f"{s:.4g}") for s in n.node_scale],
        **lasting,
    }


def _rebuild(described: dict[str, object]) -> tuple[nn.Module, DeployModel]:
    ends, scale = described["e"], described["s"]
    classes, joints = str(described["c"]).split("|"), str(described["j"])
    if not isinstance(ends, list) or not isinstance(scale, list) or not isinstance(described["n"], dict):
        raise ValueError("a list is missing")
    config = NetConfig(**{**described["n"], "dropout": 0.0})
    edges = tuple((int(a), int(b)) for a, b in zip(ends[::2], ends[1::2], strict=True))
    lasting = described.get("d")
    if lasting is not None and not (isinstance(lasting, list) and len(lasting) == 2 and lasting[1] > 0):
        raise ValueError("the duration must be a mean and a deviation")
    normaliser = Normaliser(
        int(str(described["r"])),
        edges,
        tuple(map(float, scale)),
        int(str(described["m"])),
        None if lasting is None else (float(lasting[0]), float(lasting[1])),
    )
    if not all(0 <= end < len(scale) for end in (*ends, normaliser.root)) or normaliser.chunks < 1:
        raise ValueError("a joint's number is out of range")
    signal = normaliser.values
    sizes = asdict(config)
    # Checked before anything is allocated: a damaged description must not ask for the whole memory.
    if (
        len(scale) * signal * max(sizes["channels"] * sizes["heads"] * sizes["filters"], sizes["hidden"])
        > MOST_WEIGHTS
    ):
        raise ValueError("the network it describes is too large")
    net = build_net(config, joints=len(scale), signal=signal, classes=len(classes), edges=edges)
    net = folded_net(net.eval())
    names = tuple(joints.split("|")) if joints else ()
    return net, DeployModel(net, normaliser, tuple(classes), names, edges, str(described["u"]))


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
