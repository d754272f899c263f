"""Does jobs given as JSON lines on the standard input, and answers each with a JSON line;
runs in the libraries' environment.
"""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from importlib import import_module
from importlib.metadata import version

import torch

warnings.filterwarnings("ignore")
from loop import run, step_time  # noqa: E402

LIBRARIES = {
    "dense": ("rival", "Rival"),
    "bandstop": ("bandstop_rival", "Bandstop"),
    "torch.nn.utils.prune": ("torch_prune", "TorchPrune"),
    "torch.ao.pruning": ("torch_ao", "TorchAO"),
    "torchao PAT, rate": ("torchao_pat", "PatRate"),
    "torchao PAT, lasso": ("torchao_pat", "PatLasso"),
    "NNCF magnitude": ("nncf_prune", "NncfMagnitude"),
    "NNCF RB": ("nncf_prune", "NncfRB"),
}


def main() -> None:
    """Answer until the input ends; a library that cannot do a job is answered with its own error."""
    torch.set_num_threads(1)
    for line in sys.stdin:
        job = json.loads(line)
        module, name = LIBRARIES[job["library"]]
        try:
            kind = getattr(import_module(module), name)
            if job["kind"] == "describe":
                found = {
                    "trials": kind.trials,
                    "writes": kind.writes,
                    "by_rate": getattr(kind, "by_rate", False),
                    "version": "this tree"
                    if kind.package == "bandstop"
                    else f"{kind.package} {version(kind.package)}",
                }
            elif job["kind"] == "time":
                found = step_time(job["task"], kind, job["rate"], job["setting"])
            else:
                found = run(
                    job["task"], kind, job["rate"], job["seed"], job["setting"], job["kind"] == "trial"
                )
        except Exception as error:
            traceback.print_exc()
            found = {"error": f"{type(error).__name__}: {(str(error).strip().splitlines() or [''])[-1]}"}
        print("RESULT " + json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
