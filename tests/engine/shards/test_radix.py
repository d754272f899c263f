"""The k-th smallest from sums of digit counts, as if numbers lay on several ranks."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bandstop.engine.shards.radix import from_keys, keys, kth_smallest, rounds
from bandstop.engine.shards.tensor import Shards, is_sharded, largest, local, whole


@given(st.lists(st.floats(0, 2.0**100, width=32), min_size=1, max_size=50), st.data())
@settings(deadline=None, max_examples=60)
def test_it_is_the_one_of_a_sort(values: list[float], data: st.DataObject) -> None:
    numbers, k = torch.tensor(values), data.draw(st.integers(1, len(values)))
    found = kth_smallest(lambda: [keys(numbers)], torch.tensor([k]), 31, lambda counts: counts)
    assert float(from_keys(found)[0]) == float(numbers.sort().values[k - 1])


@pytest.mark.parametrize("bits", [1, 11, 12, 31, 63])
def test_digits_cover_all_bits_once(bits: int) -> None:
    covered = [bit for shift, width in rounds(bits) for bit in range(shift, shift + width)]
    assert sorted(covered) == list(range(bits))


def test_plain_tensors_are_whole_and_local_as_they_are() -> None:
    plain = torch.tensor([1.0, -3.0])
    assert not is_sharded(plain) and local(plain) is plain and whole(plain) is plain
    assert Shards.of({"a": plain}) is None and float(largest(plain, like=plain)) == 3.0
