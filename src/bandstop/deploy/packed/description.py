"""What a bytes file says of its network besides the weights: kind and sizes, names, how signals are made."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bandstop.deploy.lower import KINDS, folded, kind_of
from bandstop.deploy.model import DeployModel
from bandstop.errors import ExportError
from bandstop.nets import NetConfig, build_net
from bandstop.record.rejection import Rejection
from bandstop.record.signal import UNSCALED, signal_parts
from bandstop.record.typed_json import build, checked
from bandstop.skeleton.normalise import Normaliser
from bandstop.skeleton.parts import Part

__all__ = ["describe", "rebuild"]

MOST_WEIGHTS = 50_000_000


def describe(model: DeployModel) -> dict[str, object]:
    """The description of a skeleton recogniser, as JSON; other networks are refused."""
    settings = kind_of(model.net).settings
    if model.normaliser is None or settings is None:
        held = ", ".join(kind.module.__name__ for kind in KINDS if kind.settings)
        raise ExportError(
            f"the bytes format holds skeleton recognisers ({held}), found {type(model.net).__name__}"
        )
    n = model.normaliser
    found = {
        "n": settings(model.net),
        "c": "|".join(name.replace("|", "/") for name in model.class_names),
        "j": "|".join(name.replace("|", "/") for name in model.joint_names),
        "u": model.units,
        "r": n.root,
        "m": n.chunks,
        "e": [end for edge in n.edges for end in edge],
        "s": _short(n.node_scale),
    }
    if n.duration is not None:
        found["d"] = n.duration
    if n.unit is not None:
        found["z"] = float(f"{n.unit:.6g}")
    if n.facing is not None:
        found["f"] = n.facing
    if model.rejection is not None:
        found["t"] = [model.rejection.temperature, model.rejection.threshold]
    if n.parts:
        found["p"] = {part.name: [_short(part.scale), _short(part.offset)] for part in n.parts[1:]}
    return found


def _short(values: tuple[float, ...]) -> list[float]:
    return [float(f"{value:.4g}") for value in values]


def rebuild(described: dict[str, object]) -> DeployModel:
    """The network that was described, folded, its weights not yet read; what is damaged is refused."""
    ends, scale = described["e"], described["s"]
    classes, joints = str(described["c"]).split("|"), str(described["j"])
    if not isinstance(ends, list) or not isinstance(scale, list) or not isinstance(described["n"], dict):
        raise ValueError("a list is missing")
    # A GCN does not say its kind: the format is older than the others.
    config = build(NetConfig, {"kind": "gcn", **described["n"], "dropout": 0.0}, "net")
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
        _parts(described.get("p"), tuple(map(float, scale)), lasting is not None),
        checked(described.get("z"), float | None, "unit"),
        checked(described.get("f"), tuple[int, int] | None, "facing"),
    )
    if not all(0 <= end < len(scale) for end in (*ends, normaliser.root)) or normaliser.chunks < 1:
        raise ValueError("a joint's number is out of range")
    # Checked before anything is allocated: a damaged description must not ask for the whole memory.
    if _at_most(config, len(scale), normaliser) > MOST_WEIGHTS:
        raise ValueError("the network it describes is too large")
    net = build_net(
        config,
        joints=len(scale),
        signal=normaliser.values,
        classes=len(classes),
        chunks=normaliser.chunks,
        shared=normaliser.shared,
        edges=edges,
    )
    names = tuple(joints.split("|")) if joints else ()
    model = DeployModel(folded(net.eval()), normaliser, tuple(classes), names, str(described["u"]))
    return replace(model, rejection=_rejection(described.get("t")))


def _rejection(stored: object) -> Rejection | None:
    if stored is None:
        return None
    if not isinstance(stored, list) or len(stored) != 2:
        raise ValueError("the rejection must be a temperature and a threshold")
    return Rejection(float(stored[0]), float(stored[1]))


def _parts(described: object, nodes: tuple[float, ...], lasting: bool) -> tuple[Part, ...]:
    """The parts of a signal, each with a scale per joint; none where none are described."""
    if described is None:
        return ()
    rows = checked(described, dict[str, tuple[tuple[float, ...], tuple[float, ...]]], "parts")
    signal_parts("+".join(["places", *rows]))  # refuses what is no signal
    for name, (scale, offset) in rows.items():
        scales, offsets = len(nodes) * (name not in UNSCALED), len(nodes) * (name == "distances")
        if len(scale) != scales or min(scale, default=1) <= 0 or len(offset) != offsets:
            raise ValueError(f"the part {name} must have a scale for each joint")
    if ("duration" in rows) != lasting:
        raise ValueError("a part called duration and its mean and deviation go together")
    return (Part("places", nodes), *(Part(name, *row) for name, row in rows.items()))


def _at_most(config: NetConfig, joints: int, normaliser: Normaliser) -> int:
    """A number that the network's weights do not exceed."""
    values = joints * normaliser.values
    if config.kind == "tcn":
        sizes = [values // normaliser.chunks, *config.widths]
        return sum(a * b * kernel for (a, b), kernel in zip(pairwise(sizes), config.kernels, strict=True))
    return values * max(config.channels * config.heads * config.filters, config.hidden)
