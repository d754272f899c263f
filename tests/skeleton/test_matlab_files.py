"""Our reader of MATLAB 5 files against scipy's."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, floating_dtypes, integer_dtypes
from scipy.io import loadmat, savemat

from bandstop.skeleton.readers import matlab
from bandstop.skeleton.readers.matlab import read_variable


def saved(variables: dict, *, compress: bool) -> bytes:
    file = io.BytesIO()
    savemat(file, variables, do_compression=compress)
    return file.getvalue()


numbers = integer_dtypes(endianness="=") | floating_dtypes(endianness="=", sizes=(32, 64))


@settings(deadline=None)
@given(
    arrays(numbers, array_shapes(min_dims=2, max_dims=4)),
    st.booleans(),
    st.text("abc_", min_size=1, max_size=20),
)
def test_arrays_are_read_as_scipy_reads_them(value: np.ndarray, compress: bool, name: str) -> None:
    name = f"v{name}"
    content = saved({"first": "text", "second": {"a": 1}, name: value, "zlast": 3}, compress=compress)
    found, expected = read_variable(content, name), loadmat(io.BytesIO(content))[name]
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()
    assert read_variable(content, "absent") is None


def test_files_of_big_endian_machines() -> None:
    def element(kind: int, content: bytes) -> bytes:
        return np.array([kind, len(content)], ">u4").tobytes() + content + bytes(-len(content) % 8)

    values = np.arange(6.0).reshape(2, 3)
    matrix = b"".join(
        [
            element(6, np.array([6, 0], ">u4").tobytes()),
            element(5, np.array([2, 3], ">i4").tobytes()),
            np.array([1, 1], ">u2").tobytes() + b"a\0\0\0",  # a small element: size, type, content
            element(9, values.astype(">f8").tobytes(order="F")),
        ]
    )
    content = b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + element(14, matrix)
    assert np.array_equal(read_variable(content, "a"), values)


@settings(deadline=None, max_examples=200)
@given(st.data(), st.booleans())
def test_wrong_bytes_give_a_value_error_or_an_array(data: st.DataObject, compress: bool) -> None:
    content = bytearray(saved({"a": np.arange(24.0).reshape(2, 3, 4)}, compress=compress))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    content = bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        found = read_variable(content, "a")
    except ValueError:
        return
    assert found is None or found.dtype.kind in "iuf"


def test_a_stream_that_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matlab, "_MOST_UNPACKED", 1000)
    content = saved({"a": np.zeros(10_000)}, compress=True)
    with pytest.raises(ValueError, match="unpacks to more than 1,000 bytes"):
        read_variable(content, "a")
