"""The optional mask goes wherever its module goes, and old checkpoints still load."""

import copy
import io

import torch

from bandstop.engine.attach.optional_mask import OptionalMask

MASK = torch.tensor([True, False, True])


def test_it_is_saved_loaded_copied_and_moved_but_is_no_buffer() -> None:
    band = OptionalMask()
    assert not band.state_dict()
    band.mask = MASK.clone()
    assert list(band.state_dict()) == ["mask"] and not list(band.buffers())
    other = OptionalMask()
    other.load_state_dict(band.state_dict())
    assert other.mask is not None and torch.equal(other.mask, MASK) and other.mask is not band.mask
    replica = copy.deepcopy(band)
    replica.mask[0] = False  # type: ignore[index]
    assert bool(band.mask[0])
    assert band.to("meta").mask.device.type == "meta"  # type: ignore[union-attr]


def test_a_state_without_the_mask_is_incomplete_for_a_module_that_has_one() -> None:
    band = OptionalMask()
    band.mask = MASK.clone()
    assert band.load_state_dict({}, strict=False).missing_keys == ["mask"]


def test_a_checkpoint_of_version_0_1_calls_it_keep() -> None:
    file = io.BytesIO()
    torch.save({"keep": MASK}, file)
    file.seek(0)
    band = OptionalMask()
    band.load_state_dict(torch.load(file))
    assert band.mask is not None and torch.equal(band.mask, MASK)
