"""The reference implementations: whose they are, and how their modules are imported."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from .borrowed import borrow, command_line

LAMP = "jaeho-lee/layer-adaptive-sparsity"
RIGL = "nollied/rigl-torch"
REWIRING = "varun19299/rigl-reproducibility"
STR = "RAIVNLab/STR"
ACDC = "IST-DASLab/ACDC"
PROBMASK = "x-zho14/ProbMask-official"
ASL = "georgeretsi/SparsityLoss"
SYNFLOW = "ganguli-lab/Synaptic-Flow"
TOPKAST = "A-Klass/torch_topkast"
POWERPROP = "mysistinechapel/powerprop"

BY_AUTHORS = {LAMP, STR, ACDC, PROBMASK, ASL, SYNFLOW}
"""The others are re-implementations by third parties; SNIP in Synaptic-Flow is SynFlow's authors'."""


class Needs(NamedTuple):
    """Modules to import, and packages that are imported there without being used by what is borrowed."""

    modules: tuple[str, ...]
    stand_ins: tuple[str, ...] = ()


NEEDS: dict[str, Needs] = {
    LAMP: Needs(
        ("tools.pruners",),
        ("tools.datasets", "tools.models", "tools.dataloaders", "tools.modelloaders", "tools.train"),
    ),
    RIGL: Needs(("rigl_torch.RigL",), ("torchvision",)),
    REWIRING: Needs(("sparselearning.funcs.prune",), ("einops",)),
    STR: Needs(("utils.conv_type",)),
    ACDC: Needs(
        ("policies.pruners", "policies.recyclers", "utils.masking_utils"),
        (
            "policies.manager",
            "models",
            "utils.datasets",
            "utils.auto_augmentation",
            "utils.checkpoints",
            "utils.flop_utils",
            "wandb",
            "torch.utils.tensorboard",
        ),
    ),
    PROBMASK: Needs(("utils.conv_type", "utils.net_utils")),
    ASL: Needs(("sparse_utils",)),
    SYNFLOW: Needs(("Pruners.pruners", "prune", "Layers.layers", "Utils.generator")),
    TOPKAST: Needs(("torch_topkast.topkast_linear",), ("torch_sparse",)),
    POWERPROP: Needs(("utils.pp_modules",)),
}


def load(name: str, root: Path) -> list[ModuleType]:
    """The modules of a reference; those that would read our command line get the values of their
    configurations.
    """
    given = {}
    if name == STR:
        given = {"args": command_line(sInit_type="constant", sInit_value=-10.0, sparse_function="sigmoid")}
    if name == PROBMASK:
        given = {"args": command_line(score_init_constant=1.0, T=1.0, discrete=False, prune_rate=1.0)}
    needs = NEEDS[name]
    return borrow(root, *needs.modules, stand_ins=needs.stand_ins, given=given)
