"""2-D poses in JSON: OpenPose and the tools of COCO."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bandstop.errors import DataError
from bandstop.skeleton import load, load_file
from bandstop.skeleton.layouts import COCO_17, OPENPOSE_18, OPENPOSE_25
from bandstop.skeleton.readers.pose_json import is_coco, is_openpose
from tests.skeleton.sample_trees import coco_tree, motion, openpose_frame, openpose_tree, write


def test_openpose_by_frame_files_and_by_lists(tmp_path: Path) -> None:
    s = load(openpose_tree(tmp_path))
    assert s.sequence_ids.tolist() == [
        "rest/s1_clip",
        "rest/s2_clip.json",
        "wave/s1_clip",
        "wave/s2_clip.json",
    ]
    assert (s.lengths.tolist(), s.subjects.tolist()) == ([3, 4, 3, 4], ["1", "2", "1", "2"])
    assert (s.layout, s.joint_names, s.guessed) == ("openpose 25", OPENPOSE_25.joint_names, False)
    assert np.allclose(s[0][:, :, :2], motion(3, 25)[:, :, :2])
    assert (s.joints[:, :, 2] == 0).all()


def test_openpose_of_eighteen_joints(tmp_path: Path) -> None:
    file = write(tmp_path / "a.json", json.dumps([openpose_frame(f) for f in motion(2, 18)]))
    one = load_file(file)
    assert (one.layout, one.joint_names) == ("openpose 18", OPENPOSE_18.joint_names)


def test_coco_in_the_shapes_of_three_tools(tmp_path: Path) -> None:
    s = load(coco_tree(tmp_path))
    assert (s.layout, s.joint_names) == ("coco", COCO_17.joint_names)
    for sequence in s:
        assert np.allclose(sequence[:, :, :2], motion(3, 17)[:, :, :2])


def test_the_person_of_most_confidence_is_taken_and_the_unseen_is_missing(tmp_path: Path) -> None:
    sure, unsure = openpose_frame(motion(1, 25)[0]), openpose_frame(motion(1, 25, seed=5)[0], 0.1)
    both = {"people": [*unsure["people"], *sure["people"]]}
    flat = both["people"][1]["pose_keypoints_2d"]
    flat[3 * 4 : 3 * 4 + 3] = [0, 0, 0]
    s = load_file(write(tmp_path / "a.json", json.dumps([both, {"people": []}])))
    assert np.allclose(s[0][0, :4, :2], motion(1, 25)[0, :4, :2])
    assert np.isnan(s[0][0, 4]).all()
    assert np.isnan(s[0][1]).all()


def test_images_come_in_the_order_of_their_numbers_and_empty_ones_are_kept(tmp_path: Path) -> None:
    points = np.ones((17, 3))
    results = [{"image_id": f"{i}.jpg", "keypoints": (points * i).ravel().tolist()} for i in (10, 9, 2)]
    s = load_file(write(tmp_path / "a.json", json.dumps(results)))
    assert s[0][:, 0, 0].tolist() == [2, 9, 10]
    document = {"images": [{"id": i} for i in (1, 2, 3)], "annotations": [{**results[0], "image_id": 3}]}
    s = load_file(write(tmp_path / "a.json", json.dumps(document)))
    assert np.isnan(s[0][:2]).all()
    assert (s[0][2, :, :2] == 10).all()


@pytest.mark.parametrize(
    ("form", "document", "message"),
    [
        ("openpose", {"persons": []}, "expected"),
        ("openpose", [{"people": 3}], "frame 0 has no list of people"),
        ("openpose", [{"people": [{"pose_keypoints_2d": [1, 2, 3]}]}], "18 or 25 joints, found 1"),
        ("openpose", [{"people": [{"pose_keypoints_2d": [1, 2]}]}], "frame 0: "),
        (
            "openpose",
            [{"people": [{"pose_keypoints_2d": ["a"] * 75}]}],
            "a coordinate must be a number, found str",
        ),
        ("coco", [{"image_id": 1, "keypoints": [1.0] * 6}], "must have 17 joints, found 2"),
        ("coco", [{"keypoints": [1.0] * 51}], "every result must say its image_id"),
        ("coco", {"annotations": 3}, "expected a list under annotations"),
        ("coco", {"instance_info": [{"instances": [3]}]}, "a person must be an object"),
        ("coco", {"instance_info": []}, "no frame"),
        ("coco", {"people": []}, "expected keypoints, annotations or instance_info"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, form: str, document: object, message: str) -> None:
    file = write(tmp_path / "wave" / "a.json", json.dumps(document))
    with pytest.raises(DataError, match=message) as refused:
        load(f"{form}:{tmp_path}")
    assert str(refused.value).startswith(f"{file}, line 1: ")


def test_json_in_a_plain_folder_hints_at_the_forms_that_read_it(tmp_path: Path) -> None:
    write(tmp_path / "wave" / "a.json", "[]")
    with pytest.raises(DataError, match="JSON is read as mediapipe:PATH, openpose:PATH or coco:PATH"):
        load(str(tmp_path))


@pytest.mark.parametrize("document", [None, [], {}, 3, "a", [3], [[1, 2, 3]], {"frames": []}])
def test_other_documents_are_taken_for_neither(document: object) -> None:
    assert not is_openpose(document)
    assert not is_coco(document)
