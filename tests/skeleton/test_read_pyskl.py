"""pyskl files, and pickles that try to do more than hold data."""

from __future__ import annotations

import io
import os
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, scalar_dtypes

from bandstop.errors import DataError
from bandstop.skeleton import load
from bandstop.skeleton.readers.stored_array import RefusedError, StoredArray
from bandstop.skeleton.readers.unpickle import unpickle
from tests.skeleton.sample_trees import motion, pyskl_content, pyskl_file, write


def stored(path: Path, content: object) -> str:
    return f"pyskl:{write(path / 'set.pkl', pickle.dumps(content))}"


def test_a_file_with_one_split(tmp_path: Path) -> None:
    s = load(pyskl_file(tmp_path))
    assert (s.name, s.class_names) == ("set", ("class 0", "class 1"))
    assert s.sequence_ids.tolist() == ["clip0", "clip1", "clip2", "clip3"]
    assert (s.labels.tolist(), s.split.tolist()) == ([0, 1, 0, 1], ["train", "train", "test", "test"])
    assert s.joint_names[0] == "nose"
    assert np.array_equal(s[1][:, :, :2], motion(4, 17, seed=1)[:, :, :2].astype(np.float16))
    assert (s[1][:, :, 2] == 0).all()


def test_a_plain_list_has_no_split(tmp_path: Path) -> None:
    s = load(stored(tmp_path, pyskl_content()["annotations"]))
    assert s.split.tolist() == [""] * 4
    with pytest.raises(DataError, match="has no splits"):
        load(stored(tmp_path, pyskl_content()["annotations"]) + "@xsub")


def test_a_split_is_chosen_by_name_and_leaves_others_out(tmp_path: Path) -> None:
    content = pyskl_content()
    content["split"] = {
        "xsub_train": ["clip0"],
        "xsub_val": ["clip3", "absent"],
        "xview_train": ["clip1"],
        "xview_test": ["clip2"],
        "train1": ["clip2"],
        "test1": ["clip0"],
    }
    spec = stored(tmp_path, content)
    for name, ids in (("xsub", ["clip0", "clip3"]), ("xview", ["clip1", "clip2"])):
        s = load(f"{spec}@{name}")
        assert (s.sequence_ids.tolist(), s.split.tolist()) == (ids, ["train", "test"])
    s = load(f"{spec}@1")
    assert (s.sequence_ids.tolist(), s.split.tolist()) == (["clip0", "clip2"], ["test", "train"])
    for wrong in (spec, f"{spec}@xset"):
        with pytest.raises(DataError, match=r"splits are '1, xsub, xview'; choose one as pyskl:PATH@NAME"):
            load(wrong)


def person(frames: int, seed: int) -> np.ndarray:
    return motion(frames, 25, seed=seed)


def test_two_persons_stand_side_by_side_when_any_sequence_has_two(tmp_path: Path) -> None:
    nobody = np.zeros((3, 25, 3), np.float32)
    both = np.stack([person(3, 0), person(3, 1), person(3, 2)])
    alone, padded = person(3, 3)[None], np.stack([person(3, 4), nobody])
    items = [{"frame_dir": str(i), "label": 0, "keypoint": k} for i, k in enumerate((both, alone, padded))]
    s = load(stored(tmp_path, items))
    assert s.joints.shape[1:] == (50, 3)
    assert np.array_equal(s[0], np.concatenate([person(3, 0), person(3, 1)], axis=1))
    assert np.array_equal(s[1], np.concatenate([person(3, 3), nobody], axis=1))
    assert s.joint_names[25] == "second spine base"
    single = load(stored(tmp_path, items[1:]))
    assert single.joints.shape[1:] == (25, 3)
    assert np.array_equal(single[1], person(3, 4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": -1}, "must have a label from 0"),
        ({"label": 10**9}, "must have a label from 0"),
        ({"label": True}, "must have a label from 0"),
        ({"frame_dir": None}, "annotation 1 has no frame_dir"),
        ({"keypoint": None}, "found NoneType"),
        ({"keypoint": np.zeros((2, 17, 3))}, "found shape"),
        ({"keypoint": np.zeros((1, 0, 17, 3))}, "found shape"),
        ({"keypoint": np.zeros((1, 2, 17, 4))}, "found shape"),
        ({"keypoint": np.zeros((1, 2, 18, 2))}, "all sequences must have the same joints"),
        ({"keypoint": np.full((1, 2, 17, 2), "a")}, "found shape"),
    ],
)
def test_a_wrong_annotation_is_named(tmp_path: Path, change: dict, message: str) -> None:
    content = pyskl_content()
    content["annotations"][1].update(change)
    content["split"] = {}
    with pytest.raises(DataError, match=message) as refused:
        load(stored(tmp_path, content))
    assert str(tmp_path / "set.pkl") in str(refused.value)


@pytest.mark.parametrize(
    "content",
    [None, 3, {}, [], {"annotations": {}}, [3], {"annotations": [{}]}, {"split": 3, "annotations": [{}]}],
)
def test_other_content_is_refused(tmp_path: Path, content: object) -> None:
    with pytest.raises(DataError, match=r"set\.pkl"):
        load(stored(tmp_path, content))


def test_a_sequence_in_train_and_test_is_refused(tmp_path: Path) -> None:
    content = pyskl_content()
    content["split"] = {"train": ["clip0", "clip1"], "val": ["clip1"]}
    with pytest.raises(DataError, match="'clip1' is in train and in test"):
        load(stored(tmp_path, content))


def test_one_array_named_a_million_times_does_not_fill_the_memory(tmp_path: Path) -> None:
    item = {"frame_dir": "a", "label": 0, "keypoint": np.zeros((1, 100_000, 17, 3), np.float32)}
    with pytest.raises(DataError, match="the sequences take more than"):
        load(stored(tmp_path, [item] * 100_000))


def value_of(content: bytes) -> object:
    found = unpickle(io.BytesIO(content))
    return found.value if isinstance(found, StoredArray) else found


numeric = scalar_dtypes().filter(
    lambda dtype: dtype.kind in "biufSU" and 0 < dtype.itemsize <= 400 and dtype.str[1:] != "f16"
)


@settings(deadline=None)
@given(st.data(), st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_arrays_of_every_protocol_are_read_as_pickle_reads_them(data: st.DataObject, protocol: int) -> None:
    dtype = data.draw(numeric)
    value = data.draw(arrays(dtype, array_shapes(min_side=0)))
    for variant in (value, np.asfortranarray(value), value[::2], value.astype(dtype.newbyteorder())):
        found = value_of(pickle.dumps(variant, protocol))
        assert found.dtype == variant.dtype
        assert found.tobytes() == variant.tobytes()
        assert found.shape == variant.shape


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner)
    ),
)


@settings(deadline=None, max_examples=50)
@given(plain, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_of_every_protocol_are_read(value: object, protocol: int) -> None:
    assert value_of(pickle.dumps(value, protocol)) == value


def test_numpy_scalars_become_numbers() -> None:
    assert value_of(pickle.dumps([np.int64(7), np.float32(0.5), np.str_("a")])) == [7, 0.5, "a"]


class Call:
    """Pickles as a call of ``function``."""

    def __init__(self, function: object, *arguments: object) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> tuple:
        return self.call


MARK = "exploded"
DTYPE = b"cnumpy\ndtype\n(S'%b'\nI0\nI1\ntR"
HOSTILE = {
    "os.system": pickle.dumps(Call(os.system, f"touch {MARK}")),
    "eval": pickle.dumps(Call(eval, f"open('{MARK}', 'w')")),
    "exec inside data": pickle.dumps([{"frame_dir": "a", "label": Call(exec, f"open('{MARK}', 'w')")}]),
    "open": pickle.dumps(Call(open, MARK, "w")),
    "getattr": pickle.dumps(Call(getattr, "a", "upper")),
    "protocol 0": b"cos\nsystem\n(S'touch exploded'\ntR.",
    "inst": b"(S'touch exploded'\nios\nsystem\n.",
    "obj": b"(cos\nsystem\nS'touch exploded'\no.",
    "newobj": b"\x80\x02cos\nsystem\n(S'touch exploded'\nt\x81.",
    "newobj_ex": b"\x80\x04cos\nsystem\n(S'touch exploded'\nt}\x92.",
    "dotted name": b"\x80\x04\x8c\x05numpy\x8c\x0ef2py.os.system\x93(S'touch exploded'\ntR.",
    "numpy's own exec": b'cnumpy.testing._private.utils\nrunstring\n(S\'open("exploded", "w")\'\n}tR.',
    "numpy.load": b"cnumpy\nload\n(S'exploded'\ntR.",
    "extension": b"\x82\x01.",
    "persistent": b"Pexploded\n.",
    "call of a value": b"(lS'touch exploded'\ntR.",
    "state of a function": b"cnumpy\ndtype\n(dS'__code__'\nI1\nsb.",
    "state of a list": b"(l(dS'append'\nI1\nsb.",
    "object array": pickle.dumps(np.array([Call(os.system, f"touch {MARK}")], dtype=object)),
    "object type": DTYPE.replace(b"%b", b"O8") + b".",
    "void type": DTYPE.replace(b"%b", b"V8") + b".",
    "date type": DTYPE.replace(b"%b", b"M8") + b".",
    "type with fields": pickle.dumps(np.zeros(2, [("a", "f4"), ("b", "O")])),
    "disguised object array": DTYPE.replace(b"%b", b"f8") + b"(I3\nS'|'\nNNNI-1\nI-1\nI63\ntb(I1\nI2\ntb.",
    "array class": b"cnumpy\nndarray\n((I1000000000\nI1000000000\nttR.",
    "codec": b"c_codecs\nencode\n(S'a'\nS'zlib_codec'\ntR.",
    "tuple as a key": b"}" + b")" + b"\x85" * 200_000 + b"Ns.",
    "tuples as keys": b"}(" + b")" + b"\x85" * 200_000 + b"Nu.",
    "list as a target": b"](I0\nI1\nu.",
    "set of deep tuples": b"\x80\x04\x8f(" + b")" + b"\x85" * 200_000 + b"\x90.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_pickle_is_refused_and_does_nothing(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "set.pkl", HOSTILE[name])
    with pytest.raises(DataError, match=r"set\.pkl: "):
        load(f"pyskl:{tmp_path / 'set.pkl'}")
    assert not (tmp_path / MARK).exists()


def test_the_hostile_pickles_are_hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("os.system", "eval", "open", "protocol 0", "inst", "obj"):
        pickle.loads(HOSTILE[name])
        assert (tmp_path / MARK).exists(), name
        (tmp_path / MARK).unlink()


@pytest.mark.parametrize(
    "content",
    [
        b"Nr\xff\xff\xff\xff.",  # memo slot four thousand million
        b"\x80\x04\x8e" + b"\xff" * 7 + b"\x00abc.",  # bytes of astronomical length
        b"\x80\x05\x96" + b"\x00" * 5 + b"\x01\x00\x00abc.",  # a bytearray of a terabyte
        b"\x80\x04\x95" + b"\x00" * 5 + b"\x01\x00\x00N.",  # a frame of a terabyte
        b"\x80\x02\x8b\xff\xff\xff\x7fabc.",  # a number of two thousand million bytes
    ],
)
def test_a_few_bytes_cannot_take_much_memory(tmp_path: Path, content: bytes) -> None:
    file = write(tmp_path / "set.pkl", content)
    tracemalloc.start()
    try:
        with pytest.raises(DataError):
            load(f"pyskl:{file}")
        assert tracemalloc.get_traced_memory()[1] < 2**26
    finally:
        tracemalloc.stop()


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60))
def test_random_bytes_never_escape_as_anything_but_an_exception_of_ours_or_of_pickle(content: bytes) -> None:
    """Random opcodes may be refused or fail, but whatever is built is plain."""
    try:
        found = value_of(content)
    except Exception:
        return
    assert type(found) in (
        type(None),
        bool,
        int,
        float,
        str,
        bytes,
        list,
        tuple,
        dict,
        np.ndarray,
    ) or callable(found)


def test_the_state_of_arrays_is_checked() -> None:
    for content in (
        b"cnumpy.core.multiarray\n_reconstruct\n(tR(I1\ntb.",
        DTYPE.replace(b"%b", b"f8") + b"(I3\ntb.",
    ):
        with pytest.raises(RefusedError, match="the state of"):
            unpickle(io.BytesIO(content))
