"""From a finished network to a small program: C, WebAssembly, ONNX, or the smallest file.

Deploy does not know how the zeros of a network came about: any network with plain layers and exact zeros
will do. Names are loaded when they are used, so that `save_sparse` needs neither numpy nor a compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = [
    "Agreement",
    "DeployModel",
    "ExportOptions",
    "bench_model",
    "export_model",
    "from_bytes",
    "kept_connections",
    "load_sparse",
    "make_c",
    "save_sparse",
    "signals_of",
    "to_bytes",
    "to_onnx",
]

if TYPE_CHECKING:
    from bandstop.deploy.bench import bench_model
    from bandstop.deploy.export import ExportOptions, export_model, make_c
    from bandstop.deploy.model import DeployModel, kept_connections
    from bandstop.deploy.onnx.file import to_onnx
    from bandstop.deploy.packed.file import from_bytes, to_bytes
    from bandstop.deploy.sparse_state import load_sparse, save_sparse
    from bandstop.deploy.verify import Agreement, signals_of

_MODULES = {
    "bench": ("bench_model",),
    "export": ("ExportOptions", "export_model", "make_c"),
    "model": ("DeployModel", "kept_connections"),
    "onnx.file": ("to_onnx",),
    "packed.file": ("from_bytes", "to_bytes"),
    "sparse_state": ("load_sparse", "save_sparse"),
    "verify": ("Agreement", "signals_of"),
}


def __getattr__(name: str) -> object:
    for module, names in _MODULES.items():
        if name in names:
            return getattr(import_module(f"bandstop.deploy.{module}"), name)
    raise AttributeError(f"module 'bandstop.deploy' has no attribute {name!r}")
