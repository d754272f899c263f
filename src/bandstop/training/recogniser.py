"""A finished recogniser: network, normalisation and names, as one safetensors file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from bandstop.errors import BandstopError, DataError
from bandstop.nets import build_net
from bandstop.skeleton.chunk import ChunkTable
from bandstop.skeleton.normalise import Normaliser
from bandstop.training.checkpoint import load_tensors, save_tensors
from bandstop.training.config import RunConfig
from bandstop.training.metrics import predict

__all__ = ["MODEL_FILE", "Recogniser", "load_recogniser", "save_recogniser"]

MODEL_FILE = "model.safetensors"


@dataclass(frozen=True)
class Recogniser:
    """Raw sequences in, class scores out."""

    net: nn.Module
    normaliser: Normaliser
    class_names: tuple[str, ...]
    joint_names: tuple[str, ...]
    config: RunConfig
    pose: tuple[tuple[float, float, float], ...] = ()

    @property
    def joints(self) -> int:
        """Joints a frame."""
        return len(self.normaliser.node_scale)

    def signals(self, sequences: Sequence[np.ndarray]) -> Tensor:
        """Node signals ``[N, V, S]`` of raw sequences ``[T, V, 3]``."""
        for place, frames in enumerate(sequences):
            if frames.ndim != 3 or frames.shape[1:] != (self.joints, 3):
                raise DataError(
                    f"sequence {place} must have shape [frames, {self.joints}, 3] as in training, found {list(frames.shape)}"
                )
        table = ChunkTable(list(sequences))
        return self.normaliser(table.chunks(torch.arange(len(table)), self.normaliser.chunks), table.lengths)

    def scores(self, sequences: Sequence[np.ndarray]) -> Tensor:
        """Class scores ``[N, classes]``."""
        return predict(self.net, self.signals(sequences))


def save_recogniser(recogniser: Recogniser, path: Path) -> None:
    """Write the plain dense state with exact zeros; everything else goes to the metadata as JSON."""
    metadata = {
        "format": "bandstop recogniser 1",
        "config": recogniser.config.to_json(),
        "class_names": json.dumps(recogniser.class_names),
        "joint_names": json.dumps(recogniser.joint_names),
        "normaliser": json.dumps(asdict(recogniser.normaliser)),
        "edges": json.dumps(recogniser.normaliser.edges),
        "pose": json.dumps(recogniser.pose),
    }
    save_tensors(path, dict(recogniser.net.state_dict()), metadata)


def _pair(stored: Sequence[float]) -> tuple[float, float]:
    mean, deviation = stored
    return float(mean), float(deviation)


def load_recogniser(run: str | Path) -> Recogniser:
    """Read a run folder's model, or a model file itself."""
    path = Path(run)
    path = path / MODEL_FILE if path.is_dir() else path
    state, metadata = load_tensors(path)
    try:
        config = RunConfig.from_json(metadata["config"])
        names = tuple(str(n) for n in json.loads(metadata["class_names"]))
        joint_names = tuple(str(n) for n in json.loads(metadata["joint_names"]))
        stored = json.loads(metadata["normaliser"])
        normaliser = Normaliser(
            root=int(stored["root"]),
            edges=tuple((int(a), int(b)) for a, b in stored["edges"]),
            node_scale=tuple(float(s) for s in stored["node_scale"]),
            chunks=int(stored["chunks"]),
            duration=None if stored.get("duration") is None else _pair(stored["duration"]),
        )
        pose = tuple((float(x), float(y), float(z)) for x, y, z in json.loads(metadata.get("pose", "[]")))
        net = build_net(
            config.net,
            joints=len(normaliser.node_scale),
            signal=normaliser.values,
            classes=len(names),
            edges=normaliser.edges,
        )
        net.load_state_dict(state)
    except BandstopError:
        raise
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise DataError(
            f"not a recogniser written by bandstop ({str(error).splitlines()[0]})", path=path
        ) from None
    net.eval()
    return Recogniser(net, normaliser, names, joint_names, config, pose)
