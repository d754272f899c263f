"""Where a front end writes the signal: as the program wants it."""

from __future__ import annotations

import numpy as np

from bandstop.deploy.c.layout import SignalLayout, chunk_values, small_index
from bandstop.deploy.c.parts import parts_code
from bandstop.deploy.c.text import Tables
from bandstop.deploy.lower import lower_variants
from bandstop.deploy.plan import LANES
from tests.deploy.test_tcn import MODEL


def test_a_layout_says_where_every_value_lies() -> None:
    normaliser = MODEL.normaliser
    assert normaliser is not None
    count, rows = chunk_values(normaliser), []
    for program in lower_variants(MODEL.net, MODEL.example, lanes=LANES):
        layout = SignalLayout.of(program, normaliser)
        index = program.input_index.reshape(len(normaliser.node_scale), normaliser.chunks, count)
        joint, moment, value = np.indices(index.shape)
        assert len(layout.shared) == 1, "the moment, which is the last of all"
        own = index[..., :-1]
        wanted = layout.moments[moment] + value * layout.value + joint * layout.joint
        assert (own == wanted[..., :-1]).all()
        assert (index[0, :, -1] == layout.moments + layout.shared[count - 1]).all()
        assert (index[1:, :, -1] == -1).all()
        rows.append(layout.row)
        assert "add_parts" in parts_code(normaliser, layout, Tables("t"))
    assert rows == [(count - 1) * len(normaliser.node_scale) + 1, None], "chunk by chunk, and in phases"


def test_indices_take_the_smallest_type() -> None:
    found = [small_index(np.array([most])) for most in (255, 256, 65536)]
    assert found == ["uint8_t", "uint16_t", "uint32_t"]
