"""What every rival's script shares: where its files are, and how it is timed.
Runs in the rival's own environment.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path(sys.argv[1])
INPUTS = np.load(FOLDER / "inputs.npy")
WANTED = np.load(FOLDER / "wanted.npy")


def answer(measure, difference: float) -> None:
    """Say how far the scores are off, then for every line on stdin (seconds)
    the median microseconds of that time.
    """
    print(json.dumps({"largest_difference": difference}), flush=True)
    for line in sys.stdin:
        print(json.dumps({"microseconds": measure(float(line))}), flush=True)


def finish(run, inputs=None) -> None:
    """Time ``run`` on one input at a time whenever asked; ``inputs`` if they need another form."""
    inputs = [row[None].copy() for row in INPUTS] if inputs is None else inputs
    found = np.stack([np.asarray(run(x)).ravel().copy() for x in inputs])

    def measure(seconds: float) -> float:
        for x in inputs:
            run(x)
        spent, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            for x in inputs:
                start = time.perf_counter_ns()
                run(x)
                spent.append(time.perf_counter_ns() - start)
        return float(np.median(spent)) / 1000

    answer(measure, float(np.abs(found - WANTED).max()))


def torch_net():
    """The folded network as a plain module, for runtimes that start from PyTorch."""
    import torch

    arrays = {k: torch.from_numpy(v) for k, v in np.load(FOLDER / "weights.npz").items()}

    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, value in arrays.items():
                self.register_buffer(name, value)

        def forward(self, x):
            joints = self.adjacency.shape[1]
            nodes = torch.relu(x @ self.encoder.T + self.encoder_offset)
            mixed = self.adjacency.unsqueeze(0) @ nodes.unsqueeze(1)
            if self.graph_offset.shape[0] == self.filters.shape[2]:
                stacked = mixed.permute(0, 2, 1, 3).reshape(1, joints, -1)
                summed = stacked @ self.filters.reshape(-1, self.filters.shape[2])
            else:
                summed = (mixed @ self.filters.unsqueeze(0)).permute(0, 2, 1, 3).reshape(1, joints, -1)
            features = torch.relu(summed + self.graph_offset).reshape(1, -1)
            return features @ self.classifier.T + self.class_offset

    return Net().eval()
