"""Delta-coded tables and the workspace: both hold what the program holds, in less."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bandstop.deploy.c.table_loop import index_types, layer_line
from bandstop.deploy.ir.delta_tables import FAR, delta_tables, flattened
from bandstop.deploy.ir.program import Affine, Term, affine_values
from bandstop.deploy.ir.simplify import liveness
from bandstop.deploy.ir.workspace import workspace
from bandstop.deploy.lower import lower
from tests.deploy.nets_for_tests import make_net

NETS = [{}, {"combine": "sum"}, {"dense": 16}, {"kind": "lstm", "hidden": 6, "layers": 2}]


def far_apart() -> Affine:
    """Two rows whose sources are further apart than a byte reaches."""
    columns = np.array([0, 1, FAR + 1, 2 * FAR + 2, 900], dtype=np.int64)
    rows = np.array([0, 0, 1, 1, 1], dtype=np.int64)
    term = Term("x", rows, columns, np.arange(1, 6, dtype=np.float32))
    return Affine("y", (term,), np.array([0.5, -1], np.float32))


def test_fillers_bridge_far_sources():
    operation = far_apart()
    (table,), fill = delta_tables(operation, np.ones(2, bool))
    assert fill is None and table.distances.max() <= FAR
    values = np.random.default_rng(0).normal(size=(3, 901)).astype(np.float32)
    start = np.concatenate([[0], np.cumsum(table.counts)])
    for row in range(2):
        part = slice(start[row], start[row + 1])
        columns = np.cumsum(table.distances[part]) * table.unit
        found = values[:, columns] @ table.weights[part] + table.bias[row]
        np.testing.assert_allclose(found, affine_values(operation, {"x": values})[:, row], rtol=1e-5)
    assert index_types([table]) == ("uint8_t", "uint8_t")
    assert layer_line(table, ["counts"], 1) == "    {counts, 2, 1, 1, 1, 1, 1}"


def test_flattened_adds_up_what_shares_both_ends():
    one = Term("x", np.array([0]), np.array([0]), np.ones(1, np.float32), 2)
    operation = Affine("y", (one, one), np.zeros(2, np.float32))
    flat = flattened(operation)
    assert len(flat.terms) == 1 and flat.terms[0].weights.tolist() == [2.0, 2.0]
    values = np.array([[3.0, 4.0]], np.float32)
    assert np.array_equal(affine_values(flat, {"x": values}), affine_values(operation, {"x": values}))
    other = Term("z", np.array([0]), np.array([0]), np.ones(1, np.float32))
    with pytest.raises(ValueError, match="two tensors"):
        flattened(Affine("y", (one, other), np.zeros(2, np.float32)))


@pytest.mark.parametrize("output", [False, True])
@pytest.mark.parametrize("config", NETS)
def test_tensors_that_are_needed_together_do_not_overlap(config, output):
    program = lower(make_net(0.8, **config), torch.zeros(1, 21, 96), compact=True)
    offsets, size = workspace(program, output=output)
    assert set(offsets) == {o.dst for o in program.operations} - (set() if output else {program.output})
    for number, operation in enumerate(program.operations):
        later = program.operations[number + 1 :]
        read_later = {t.src for o in later for t in (o.terms if isinstance(o, Affine) else o.gates.terms)}
        written = {o.dst for o in program.operations[:number]}
        for other in written & read_later & set(offsets):
            if operation.dst in offsets:
                ranges = [range(offsets[n], offsets[n] + program.sizes[n]) for n in (operation.dst, other)]
                assert not set(ranges[0]) & set(ranges[1]), (operation.dst, other)
    assert size == max(offsets[n] + program.sizes[n] for n in offsets)
    assert size <= sum(program.sizes[n] for n in offsets)
    assert liveness(program)[program.output].all()
