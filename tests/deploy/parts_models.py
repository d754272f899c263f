"""Networks on signals composed of parts, with what goes with them."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from bandstop.deploy.model import DeployModel
from bandstop.nets import NetConfig, build_net
from bandstop.record.signal import PARTS, UNSCALED
from bandstop.skeleton.normalise import Normaliser
from bandstop.skeleton.parts import Part
from tests.deploy.nets_for_tests import JOINTS, make_model, normaliser, prune, settle_norms


def composed(names: tuple[str, ...]) -> Normaliser:
    plain = normaliser()
    scale = tuple(np.linspace(0.7, 1.4, JOINTS).round(3).tolist())
    parts = [Part("places", plain.node_scale)]
    parts += [
        Part(name, () if name in UNSCALED else scale, scale if name == "distances" else ())
        for name in names[1:]
    ]
    lasting = (4.2, 0.8) if "duration" in names else None
    return dataclasses.replace(plain, duration=lasting, parts=tuple(parts))


def parts_model(names: tuple[str, ...] = tuple(PARTS), *, rate: float = 0.96, **net: object) -> DeployModel:
    made, plain = composed(names), make_model(0.9)
    torch.manual_seed(1)
    config = NetConfig(**{"kind": "tcn", **net})  # type: ignore[arg-type]
    built = build_net(
        config,
        joints=JOINTS,
        signal=made.values,
        classes=45,
        chunks=made.chunks,
        shared=made.shared,
        edges=made.edges,
    )
    settle_norms(built)
    prune(built, rate)
    return dataclasses.replace(plain, net=built.eval(), normaliser=made)
