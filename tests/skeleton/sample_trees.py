"""Small valid trees of every format, for tests to read and to break."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.io import savemat

from bandstop.skeleton import SequenceSet, write_archive
from bandstop.skeleton.readers.fpha import SPLIT_FILE, TREE


def motion(frames: int, nodes: int, seed: int = 0) -> np.ndarray:
    """A smooth random sequence [T, V, 3] without zeros."""
    steps = np.random.default_rng(seed).normal(size=(frames, nodes, 3))
    return (np.cumsum(steps, axis=0) + 10).astype(np.float32)


def numbered_rows(sequence: np.ndarray, separator: str) -> str:
    rows = sequence.reshape(len(sequence), -1)
    return "".join(
        separator.join([f"{t:04d}", *(f"{value:.6f}" for value in row)]) + "\n" for t, row in enumerate(rows)
    )


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def fpha_tree(at: Path) -> str:
    entries = {
        "Training 3": [(1, "wave", 1, 0), (1, "grasp", 1, 1), (2, "wave", 2, 0)],
        "Test 1": [(2, "grasp", 1, 1)],
    }
    lines = []
    for title, members in entries.items():
        lines.append(title)
        for subject, action, run, number in members:
            folder = f"Subject_{subject}/{action}/{run}"
            lines.append(f"{folder} {number}")
            text = numbered_rows(motion(3 + run, 21, seed=10 * subject + number), " ")
            write(at / TREE / folder / "skeleton.txt", text)
    write(at / SPLIT_FILE, "\n".join(lines) + "\n")
    return f"fpha:{at}"


def sbu_tree(at: Path) -> str:
    for pair, action in (("s01s02", "01"), ("s02s03", "08")):
        write(
            at / pair / action / "001" / "skeleton_pos.txt",
            numbered_rows(motion(4, 30), ",").replace("\n", "\r\n"),
        )
    return f"sbu:{at}"


def utd_tree(at: Path) -> str:
    at.mkdir(parents=True, exist_ok=True)
    for action, subject in ((1, 1), (27, 2), (2, 3)):
        sequence = motion(5, 20, seed=action).astype(np.float64)
        savemat(at / f"a{action}_s{subject}_t1_skeleton.mat", {"d_skel": np.moveaxis(sequence, 0, 2)})
    return f"utd-mhad:{at}"


def array_folder(at: Path) -> str:
    for label, name in enumerate(("grasp", "wave")):
        (at / name).mkdir(parents=True, exist_ok=True)
        np.save(at / name / "s01_a.npy", motion(4, 5, seed=label))
        np.savez(at / name / "s02_b.npz", joints=motion(3, 5, seed=label), other=np.arange(2))
        rows = motion(6, 5, seed=label).reshape(6, 15)
        write(at / name / "s01_c.csv", "".join(",".join(f"{v:.5f}" for v in row) + "\n" for row in rows))
    write(at / "edges.csv", "a,b\n0,1\n1,2\n2,3\n3,4\n")
    return str(at)


def mediapipe_folder(at: Path) -> str:
    frames = motion(4, 21).tolist()
    as_points = [[dict(zip("xyz", point, strict=True)) for point in frame] for frame in frames]
    write(at / "wave" / "s1_a.json", json.dumps(frames, indent=1))
    write(
        at / "wave" / "s2_b.json",
        json.dumps({"frames": [{"landmarks": frame} for frame in as_points]}, indent=1),
    )
    write(at / "grasp" / "s1_c.jsonl", "".join(json.dumps({"hand_landmarks": [f]}) + "\n" for f in as_points))
    rows = np.array(frames).reshape(4, 63).tolist()
    write(
        at / "grasp" / "s2_d.csv", "".join(",".join(map(str, [t, *row])) + "\n" for t, row in enumerate(rows))
    )
    return f"mediapipe:{at}"


def shrec_tree(at: Path) -> str:
    lists = {"train": [(1, 1, 1, 1), (1, 2, 2, 1), (14, 1, 1, 1)], "test": [(1, 1, 3, 1), (14, 2, 3, 2)]}
    for split, members in lists.items():
        lines = []
        for gesture, finger, subject, trial in members:
            frames = motion(3 + finger, 22, seed=gesture + subject)
            folder = f"gesture_{gesture}/finger_{finger}/subject_{subject}/essai_{trial}"
            rows = frames.reshape(len(frames), 66).tolist()
            text = "".join(" ".join(f"{value:.6f}" for value in row) + " \n" for row in rows)
            write(at / folder / "skeletons_world.txt", text)
            both = 2 * (gesture - 1) + finger
            lines.append(f"{gesture} {finger} {subject} {trial} {gesture} {both} {len(frames)}\n")
        write(at / f"{split}_gestures.txt", "".join(lines))
    return f"shrec:{at}"


def jackknife_sample(gesture: str, frames: np.ndarray) -> str:
    blocks = ["".join(",".join(f"{v:.5f}" for v in point) + "\n" for point in frame) for frame in frames]
    return f"{gesture}\n{len(frames)}\n####\n" + "####\n".join(blocks)


def jackknife_tree(at: Path) -> str:
    for user, gesture, number in (("U300", "love", 1), ("U300", "explode", 1), ("U301", "love", 2)):
        text = jackknife_sample(gesture, motion(3, 21, seed=number))
        write(at / "training" / f"Sub_{user}" / gesture / f"ex_{number}.txt", text)
    return f"jackknife:{at}"


def openpose_frame(points: np.ndarray, confidence: float = 0.9) -> dict[str, object]:
    flat = np.concatenate([points[:, :2], np.full((len(points), 1), confidence)], axis=1).ravel().tolist()
    return {"version": 1.3, "people": [{"person_id": [-1], "pose_keypoints_2d": flat}]}


def openpose_tree(at: Path) -> str:
    for name, nodes in (("wave", 25), ("rest", 25)):
        for i, frame in enumerate(motion(3, nodes)):
            text = json.dumps(openpose_frame(frame))
            write(at / name / "s1_clip" / f"clip_{i:012d}_keypoints.json", text)
        write(at / name / "s2_clip.json", json.dumps([openpose_frame(f) for f in motion(4, nodes)]))
    return f"openpose:{at}"


def coco_tree(at: Path) -> str:
    frames = [np.concatenate([f[:, :2], np.ones((17, 1))], axis=1) for f in motion(3, 17)]
    results = [
        {"image_id": f"{i}.jpg", "keypoints": f.ravel().tolist(), "score": 2.5} for i, f in enumerate(frames)
    ]
    annotations = [{"image_id": 7 + i, "keypoints": f.ravel().tolist()} for i, f in enumerate(frames)]
    images = [{"id": 7 + i, "file_name": f"{i}.jpg"} for i in range(3)]
    instances = [
        {"frame_id": i, "instances": [{"keypoints": f[:, :2].tolist(), "keypoint_scores": f[:, 2].tolist()}]}
        for i, f in enumerate(frames)
    ]
    write(at / "wave" / "s1_a.json", json.dumps(results))
    write(at / "wave" / "s2_b.json", json.dumps({"images": images, "annotations": annotations}))
    write(at / "rest" / "s1_c.json", json.dumps({"meta_info": {}, "instance_info": instances}))
    return f"coco:{at}"


BVH = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Chest
  {
    OFFSET 0 2 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 1 0
    }
  }
}
MOTION
Frames: 2
Frame Time: 0.0333333
1 2 3 0 0 0 0 0 0
1 2 3 90 0 0 0 90 0
"""


def bvh_folder(at: Path) -> str:
    for name in ("walk", "run"):
        write(at / name / "s1_a.bvh", BVH)
        write(at / name / "s2_b.bvh", BVH)
    return str(at)


def keypoint_table(at: Path) -> str:
    rows = [
        ",".join(map(str, [i % 2, *frame[:, :2].ravel().tolist()])) + "\r\n"
        for i, frame in enumerate(motion(4, 21))
    ]
    write(at / "keypoint.csv", "".join(rows))
    write(at / "keypoint_classifier_label.csv", "\ufeffOpen\r\nClose\r\n")
    return str(at)


def pyskl_content() -> dict[str, object]:
    annotations = [
        {
            "frame_dir": f"clip{i}",
            "label": i % 2,
            "total_frames": 3 + i,
            "img_shape": (480, 640),
            "keypoint": motion(3 + i, 17, seed=i)[None, :, :, :2].astype(np.float16),
            "keypoint_score": np.ones((1, 3 + i, 17), np.float16),
        }
        for i in range(4)
    ]
    return {"split": {"train": ["clip0", "clip1"], "val": ["clip2", "clip3"]}, "annotations": annotations}


def pyskl_file(at: Path) -> str:
    return f"pyskl:{write(at / 'set.pkl', pickle.dumps(pyskl_content()))}"


def small_set() -> SequenceSet:
    return SequenceSet.from_sequences(
        [motion(4, 3, seed=i) for i in range(4)],
        labels=[0, 1, 1, 0],
        class_names=["rest", "wave"],
        edges=[(0, 1), (1, 2)],
        subjects=["1", "1", "2", "2"],
        split=["train", "train", "test", ""],
        sequence_ids=list("abcd"),
        fold=[1, 1, 2, 2],
        name="small",
        root=1,
        joint_names=["x", "y", "z"],
    )


def archive_file(at: Path) -> str:
    at.mkdir(parents=True, exist_ok=True)
    write_archive(small_set(), at / "set.npz")
    return str(at / "set.npz")


TREES: dict[str, Callable[[Path], str]] = {
    "fpha": fpha_tree,
    "sbu": sbu_tree,
    "utd-mhad": utd_tree,
    "folder": array_folder,
    "mediapipe": mediapipe_folder,
    "pyskl": pyskl_file,
    "shrec": shrec_tree,
    "jackknife": jackknife_tree,
    "openpose": openpose_tree,
    "coco": coco_tree,
    "bvh": bvh_folder,
    "keypoint": keypoint_table,
    "archive": archive_file,
}
