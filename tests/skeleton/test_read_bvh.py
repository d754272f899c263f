"""Motion capture: positions follow from angles."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load, load_file
from bandstop.skeleton.readers.bvh import read_bvh
from tests.skeleton.sample_trees import BVH, bvh_folder, write


def test_positions_names_and_bones(tmp_path: Path) -> None:
    s = load(bvh_folder(tmp_path))
    assert (s.joint_names, s.edges.tolist(), s.root) == (("Hips", "Chest", "Chest end"), [[0, 1], [1, 2]], 0)
    assert not s.guessed
    assert s[0][0].tolist() == [[1, 2, 3], [1, 4, 3], [1, 5, 3]]
    # Hips turn by 90 degrees about z, so the chest lies at -x; then the chest by 90 about its own x.
    assert np.allclose(s[0][1], [[1, 2, 3], [-1, 2, 3], [-1, 2, 4]], atol=1e-6)


def test_the_order_of_channels_is_the_order_of_rotations(tmp_path: Path) -> None:
    chest = "CHANNELS 3 Zrotation Xrotation Yrotation\n    End"
    other = BVH.replace(chest, chest.replace("Zrotation Xrotation", "Xrotation Zrotation"))
    turned = other.replace("90 0 0 0 90 0", "0 0 0 90 90 0")
    first = load_file(write(tmp_path / "a.bvh", turned))[0][1]
    second = load_file(write(tmp_path / "a.bvh", BVH.replace("90 0 0 0 90 0", "0 0 0 90 90 0")))[0][1]
    assert np.allclose(first[2] - first[1], [-1, 0, 0], atol=1e-6)
    assert np.allclose(second[2] - second[1], [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "line", "message"),
    [
        (("HIERARCHY", "TREE"), 1, "a BVH file has a HIERARCHY and then a MOTION"),
        (("MOTION", ""), 1, "a BVH file has a HIERARCHY and then a MOTION"),
        (("Frame Time: 0.0333333\n", ""), 16, "MOTION must say Frames and Frame Time"),
        (("OFFSET 0 2 0", "OFFSET 0 2"), 8, "not a line of a BVH hierarchy: 'OFFSET 0 2'"),
        (("CHANNELS 3", "CHANNELS 4"), 9, "not a line of a BVH hierarchy"),
        (("JOINT Chest", "ROOT Chest"), 6, "not a line of a BVH hierarchy"),
        (("    }\n  }\n}", "    }\n  }\n"), 1, "not closed"),
        (("JOINT Chest", "JOINT Hips"), 1, "two joints have the same name"),
        (("1 2 3 90", "1 2 90"), 20, "expected 9 columns, found 8"),
    ],
)
def test_wrong_files_are_refused_with_their_line(
    tmp_path: Path, change: tuple[str, str], line: int, message: str
) -> None:
    assert change[0] in BVH
    file = write(tmp_path / "a.bvh", BVH.replace(*change))
    with pytest.raises(DataError, match=message) as refused:
        read_bvh(file)
    assert str(refused.value).startswith(f"{file}, line {line}: ")
