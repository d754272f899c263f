"""Sums of narrow gaussians over millions of weights, at the cost of a few additions per weight.

Weights are counted against bins with φ(d) = exp(−4d²), d the distance in bins. Every bin is cut into CELLS
cells and φ is a polynomial Σ c_p·t^p in each of them, t in [−½, ½] being the position inside the cell. Then

    Σ_w φ(w − q_k) = Σ_cells Σ_p c_p(cell, k) · Σ_{w in cell} t_w^p

so one pass deposits the moments of each cell, and one small product folds them into bins. The way back
mirrors it: a gradient over bins is spread into one polynomial per cell, and each weight looks up its own
slope.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import torch
from torch import Tensor

__all__ = ["CELLS", "TorchPasses", "plain_tensors", "polynomials", "table_of_cells"]

CELLS = 96  # per bin
REACH = 3  # bins on either side that a weight can touch: φ(3.5) = 5e-22
WINDOW = 2 * REACH + 1
# Relative error of φ and φ' where they matter: 1e-6 (quadratic), 1e-13 (seventh degree).
DEGREE = {torch.float32: 2, torch.float64: 7}


@contextmanager
def plain_tensors() -> Iterator[None]:
    """For tensors that are cached: made on the CPU, whatever mode or device the caller is in."""
    with torch.inference_mode(False), torch.device("cpu"):
        yield


def table_of_cells(use: str, count: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Memory for a table [degree + 1, cells] over ``count`` bins, valid until the next call for the same use.

    On a CPU it is kept for each thread: asking the system for it anew costs more than its use.
    """
    shape = (DEGREE[dtype] + 1, (count + 2 * REACH) * CELLS)
    if device.type != "cpu":
        return torch.empty(shape, dtype=dtype, device=device)
    return _kept_table(use, shape, dtype, threading.get_ident())


@lru_cache(maxsize=16)
def _kept_table(use: str, shape: tuple[int, int], dtype: torch.dtype, thread: int) -> Tensor:
    with plain_tensors():
        return torch.empty(shape, dtype=dtype)


@lru_cache(maxsize=16)
def polynomials(dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """Coefficients [degree + 1, WINDOW, CELLS] of φ, and of φ' with its window reversed.

    Interpolated at the Gauss–Legendre points: the error has no mean over a cell and cancels between weights.
    """
    with plain_tensors():
        degree = DEGREE[dtype]
        i = torch.arange(1, degree + 1, dtype=torch.float64)
        off_diagonal = torch.diag(i / (4 * i**2 - 1).sqrt(), 1)
        points = torch.linalg.eigvalsh(off_diagonal + off_diagonal.T) / 2
        inverse = torch.linalg.inv(torch.stack([points**p for p in range(degree + 1)], dim=1))
        centres = (torch.arange(CELLS, dtype=torch.float64) + 0.5) / CELLS - 0.5
        window = torch.arange(WINDOW, dtype=torch.float64) - REACH
        distance = window[:, None, None] + points[:, None] / CELLS + centres
        value = torch.exp(-4 * distance**2)
        forward = (inverse @ value).permute(1, 0, 2)
        backward = (inverse @ (-8 * distance * value)).permute(1, 0, 2).flip(1)
        return forward.contiguous().to(device, dtype), backward.contiguous().to(device, dtype)


class TorchPasses:
    """Both passes over the weights in plain torch, at most ``size`` at a time, in buffers made once."""

    def __init__(
        self, width: float, limit: float, size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.width, self.limit, self.size = width, limit, size
        self._place, self._one, self._other = torch.empty(3, size, dtype=dtype, device=device).unbind()
        self._cell = torch.empty(size, dtype=torch.int32, device=device)

    def fold(self, table: Tensor, counts: Tensor) -> None:
        """Add to ``counts`` the Σ φ of each bin from the moments of all cells."""
        moments = table.view(table.shape[0], -1, CELLS)
        windows = torch.bmm(polynomials(table.dtype, table.device)[0], moments.transpose(1, 2))
        orders, _, rows = windows.shape
        # Entry (i, r): the weights of row r, which is bin r − REACH, counted for bin r − i. Gather r = k + i.
        diagonals = windows.as_strided((orders, rows - 2 * REACH, WINDOW), (WINDOW * rows, 1, rows + 1))
        counts.add_(diagonals.sum((0, 2)))

    def spread(self, gradient: Tensor, table: Tensor) -> None:
        """Fill ``table`` with the polynomial of d(Σ_k g_k·φ)/dw in each cell, w in bins."""
        padded = torch.nn.functional.pad(gradient.to(table.dtype), (2 * REACH, 2 * REACH))
        windows = padded.unfold(0, WINDOW, 1).contiguous().expand(table.shape[0], -1, -1)
        slopes = polynomials(table.dtype, table.device)[1]
        torch.bmm(windows, slopes, out=table.view(table.shape[0], -1, CELLS))

    def deposit(self, values: Tensor, table: Tensor) -> Tensor:
        """Add the moments of ``values`` to ``table``; return the sum of their ρ, the tail penalty."""
        cell, place = self._locate(values, table.shape[1])
        index = cell.long()
        power = self._one[: values.numel()].fill_(1)
        for moments in table.unbind():
            moments.scatter_add_(0, index, power)
            power.mul_(place)
        inside = torch.clamp(values, -self.limit, self.limit, out=self._other[: values.numel()])
        return (
            torch.nn.functional.smooth_l1_loss(values, inside, reduction="sum", beta=self.width) / self.width
        )

    def lookup_add_(self, gradient: Tensor, values: Tensor, table: Tensor, tail: Tensor) -> None:
        """Add to ``gradient`` the slope that ``table`` holds for each value, and ``tail`` times that of ρ."""
        cell, place = self._locate(values, table.shape[1])
        *lower, highest = table.unbind()
        other = self._other[: values.numel()]
        slope = torch.index_select(highest, 0, cell, out=self._one[: values.numel()])
        for coefficients in reversed(lower):
            slope.mul_(place).add_(torch.index_select(coefficients, 0, cell, out=other))
        inside = torch.clamp(values, -self.limit, self.limit, out=other)
        outside = inside.sub_(values).mul_(-1 / self.width).clamp_(-1, 1)
        gradient.add_(slope.add_(outside.mul_(tail)))

    def _locate(self, values: Tensor, cells: int) -> tuple[Tensor, Tensor]:
        """Cell of each value and place inside it; clamped as an integer: even a NaN has a valid cell."""
        place = torch.mul(values, CELLS / self.width, out=self._place[: values.numel()])
        floor = torch.floor(place, out=self._one[: values.numel()])
        cell = self._cell[: values.numel()].copy_(floor).add_(cells // 2).clamp_(0, cells - 1)
        return cell, place.sub_(floor).sub_(0.5)
