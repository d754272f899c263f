"""The emitted C of tiny networks, byte for byte, and that it computes their scores."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from bandstop.deploy.run.native import Native
from bandstop.deploy.verify import reference_scores
from tests.deploy.golden_nets import EXPORTS, FOLDER, golden_files, golden_model
from tests.deploy.nets_for_tests import c_files

RENEW = "if the change is meant, run python -m tests.deploy.golden_nets and look at the difference"


@pytest.mark.parametrize("name", EXPORTS)
def test_the_emitted_c_is_the_golden_one(name):
    for file, text in golden_files(name).items():
        assert (FOLDER / file).read_text(encoding="utf-8") == text, RENEW


def test_nothing_else_is_in_the_folder():
    assert {path.name for path in FOLDER.iterdir()} == {f for name in EXPORTS for f in golden_files(name)}


@pytest.mark.parametrize("name", [name for name in EXPORTS if not name.endswith("int8")])
def test_golden_networks_are_right(name):
    kind, options = EXPORTS[name]
    model = golden_model(kind)
    inputs = torch.randn(5, *model.shape, generator=torch.Generator().manual_seed(0)).numpy()
    wanted = reference_scores(model, inputs)
    found = Native(c_files(model, name=name, **options), flags=("-O1",)).network(inputs)
    assert np.abs(found - wanted).max() < 1e-5
    assert np.ptp(wanted, axis=0).min() > 0, "the scores depend on the input"
