"""The files of tensors in a run folder: finished recogniser and checkpoints. No pickles."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from bandstop.errors import BandstopError, ConfigError, DataError
from bandstop.files import atomic_write, naming
from bandstop.nets import build_net
from bandstop.record.folder import MODEL
from bandstop.record.rejection import NONE, Answer, Rejection
from bandstop.record.typed_json import build
from bandstop.skeleton import SequenceSet, match_joints
from bandstop.skeleton.chunk import ChunkTable
from bandstop.skeleton.flat import refuse_other_axes
from bandstop.skeleton.in_space import raw_frames
from bandstop.skeleton.normalise import Normaliser
from bandstop.training.config import RunConfig
from bandstop.training.measure import predict

__all__ = ["Recogniser", "load_checkpoint", "load_recogniser", "save_checkpoint", "save_recogniser"]


@dataclass(frozen=True)
class Recogniser:
    """A finished run, ready to use: raw sequences ``[frames, joints, 3]`` in, class scores out.

    ``bandstop.load_recogniser("runs/mine").scores([sequence])`` is all that a program needs.
    """

    net: nn.Module
    normaliser: Normaliser
    class_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    config: RunConfig
    pose: tuple[tuple[float, float, float], ...] = ()
    rejection: Rejection | None = None
    """How it says "none of these"; None: it always names a class. `bandstop calibrate` chooses it."""

    @property
    def joints(self) -> int:
        """Joints per frame."""
        return len(self.normaliser.node_scale)

    @property
    def never_seen(self) -> NDArray[np.bool_] | None:
        """Joints that lay at the origin in every frame of training; None where that is not known.

        That is in old files, and for streams, which are joined of recordings that were moved.
        """
        streams = self.class_names[-1:] == (NONE,)
        return None if not self.pose or streams else ~np.any(self.pose, axis=1)

    @property
    def flat(self) -> bool | None:
        """Whether it was trained on two coordinates; None in old files, where that is not known."""
        return not any(z for _, _, z in self.pose) if self.pose else None

    def signals(self, sequences: Sequence[np.ndarray]) -> Tensor:
        """Node signals ``[N, V, S]`` of raw sequences ``[T, V, 3]``, or ``[T, V, 2]`` in the plane z = 0."""
        raw = [raw_frames(frames, self.joints, f"sequence {i}") for i, frames in enumerate(sequences)]
        table = ChunkTable(raw)
        return self.normaliser(table.chunks(torch.arange(len(table)), self.normaliser.chunks), table.lengths)

    def in_its_order(self, s: SequenceSet, *, same: bool = False, where: object = None) -> SequenceSet:
        """``s`` with its joints in the order of training, matched by name; see `match_joints`.

        The bones are those of training. Two coordinates are refused where it had three, and the reverse.
        """
        found = match_joints(s, self.joint_names, self.joints, same=same, where=where)
        if self.flat is not None:
            refuse_other_axes(found, self.flat, where)
        edges = self.normaliser.edges
        return replace(found, edges=np.array(edges, np.int64)) if edges else found

    def repaired(self, s: SequenceSet, *, hint: str) -> SequenceSet:
        """``s`` without gaps; a joint that is always zero is refused, unless it was so in training too."""
        return s.repaired(self.never_seen, hint=hint)

    def scores(self, sequences: Sequence[np.ndarray]) -> Tensor:
        """Class scores ``[N, classes]``."""
        return predict(self.net, self.signals(sequences))

    def answers(self, sequences: Sequence[np.ndarray]) -> list[Answer]:
        """For each sequence its class, or −1 for none of these, and the confidence of that."""
        if self.rejection is None:
            raise ConfigError("this recogniser has no threshold yet: choose one with `bandstop calibrate`")
        rows: list[list[float]] = self.scores(sequences).tolist()
        return [self.rejection.answer(row, self.class_names) for row in rows]


def save_recogniser(recogniser: Recogniser, path: Path) -> None:
    """Write the plain dense state with exact zeros; everything else goes to the metadata as JSON."""
    metadata = {
        "format": "bandstop recogniser 1",
        "config": recogniser.config.to_json(),
        "class_names": json.dumps(recogniser.class_names),
        "joint_names": json.dumps(recogniser.joint_names),
        "normaliser": json.dumps(_described(recogniser.normaliser)),
        "edges": json.dumps(recogniser.normaliser.edges),
        "pose": json.dumps(recogniser.pose),
    }
    if recogniser.rejection is not None:
        metadata["rejection"] = json.dumps(asdict(recogniser.rejection))
    save_tensors(path, dict(recogniser.net.state_dict()), metadata)


def _described(normaliser: Normaliser) -> dict[str, Any]:
    """As JSON; what a normaliser does without is left out, as it was before there was any such thing."""
    later = ("parts", "unit", "facing")
    return {name: value for name, value in asdict(normaliser).items() if value or name not in later}


def load_recogniser(run: str | Path) -> Recogniser:
    """Read a run folder's model, or a model file itself."""
    path = Path(run)
    path = path / MODEL if path.is_dir() else path
    state, metadata = load_tensors(path)
    try:
        config = RunConfig.from_json(metadata["config"])
        names = tuple(str(n) for n in json.loads(metadata["class_names"]))
        joint_names = tuple(str(n) for n in json.loads(metadata["joint_names"]))
        normaliser = build(Normaliser, json.loads(metadata["normaliser"]), "normaliser")
        if normaliser.chunks != config.chunks:
            raise ConfigError(f"{normaliser.chunks} chunks in its normaliser, {config.chunks} in its config")
        pose = tuple((float(x), float(y), float(z)) for x, y, z in json.loads(metadata.get("pose", "[]")))
        rejection = (
            build(Rejection, json.loads(metadata["rejection"]), "rejection")
            if "rejection" in metadata
            else None
        )
        net = build_net(
            config.net,
            joints=len(normaliser.node_scale),
            signal=normaliser.values,
            classes=len(names),
            chunks=normaliser.chunks,
            shared=normaliser.shared,
            edges=normaliser.edges,
        )
        net.load_state_dict(state)
    except (BandstopError, KeyError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        problem = f"not a recogniser written by bandstop ({str(error).splitlines()[0]})"
        raise DataError(problem, path=path) from None
    net.eval()
    return Recogniser(net, normaliser, names, joint_names, config, pose, rejection)


def save_tensors(path: Path, tensors: dict[str, Tensor], metadata: dict[str, str]) -> None:
    """Write a safetensors file atomically: the same tensors and texts always give the same bytes."""
    from safetensors.torch import save

    plain = {k: v.detach().contiguous().clone() for k, v in tensors.items()}
    data = _in_order(save(plain, metadata))
    with naming(path), atomic_write(path) as part:  # by us: safetensors' own writing leaves files behind
        part.write_bytes(data)


def _in_order(data: bytes) -> bytes:
    """A safetensors file with its texts by name: safetensors stores them in an order that it draws anew."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    texts = {"__metadata__": dict(sorted(header.pop("__metadata__", {}).items()))}
    made = json.dumps(texts | header, separators=(",", ":"), ensure_ascii=False).encode()
    made += b" " * (-len(made) % 8)  # tensors begin at a multiple of eight bytes
    return len(made).to_bytes(8, "little") + made + data[8 + length :]


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read a safetensors file; a broken one is refused with a sentence."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise DataError("there is no such file; is this a finished run folder?", path=path)
    try:
        with safe_open(path, framework="pt") as stored:
            return {k: stored.get_tensor(k) for k in stored.keys()}, dict(stored.metadata() or {})  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise DataError(f"not a readable safetensors file ({error})", path=path) from None


def _flatten(value: Any, tensors: dict[str, Tensor], name: str) -> Any:
    """Replace every tensor in nested dicts and lists by a reference into ``tensors``."""
    if isinstance(value, Tensor):
        tensors[name] = value
        return {"tensor": name}
    if isinstance(value, dict):
        return {"dict": [[k, _flatten(v, tensors, f"{name}.{k}")] for k, v in value.items()]}
    if isinstance(value, list | tuple):
        return {"list": [_flatten(v, tensors, f"{name}.{i}") for i, v in enumerate(value)]}
    return {"value": value}


def _restore(value: Any, tensors: dict[str, Tensor]) -> Any:
    if "tensor" in value:
        return tensors[value["tensor"]]
    if "dict" in value:
        return {k: _restore(v, tensors) for k, v in value["dict"]}
    if "list" in value:
        return [_restore(v, tensors) for v in value["list"]]
    return value["value"]


def save_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Save nested dicts and lists of tensors, numbers and strings."""
    tensors: dict[str, Tensor] = {}
    description = json.dumps(_flatten(state, tensors, "state"))
    save_tensors(path, tensors, {"state": description})


def load_checkpoint(path: Path) -> dict[str, Any]:
    """What ``save_checkpoint`` saved."""
    tensors, metadata = load_tensors(path)
    try:
        restored: dict[str, Any] = _restore(json.loads(metadata["state"]), tensors)
    except (KeyError, TypeError, ValueError, RecursionError):
        raise DataError(
            "this file is not a checkpoint of bandstop; remove it to start afresh", path=path
        ) from None
    return restored
