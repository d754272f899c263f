"""The embedded hands: real kinematics, same seed same bytes, people apart, neither trivial nor hopeless."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import time
from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bandstop.errors import ConfigError
from bandstop.nets.gcn import GCN
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.augment import Augmentation
from bandstop.skeleton.chunk import ChunkTable
from bandstop.skeleton.hands import People, make_hands, observe, perform
from bandstop.skeleton.kinematics import (
    ANGLES,
    FINGER_JOINTS,
    FINGERS,
    LIMITS,
    PALM_LENGTHS,
    PHALANX_LENGTHS,
    clip_to_limits,
    euler_rotation,
    hand_joints,
)
from bandstop.skeleton.layouts import HAND
from bandstop.skeleton.motions import ACTIONS, CHANNELS, Action, pose_vector
from bandstop.skeleton.normalise import Normaliser

AVERAGE_BONES = np.concatenate([PALM_LENGTHS[:, None], PHALANX_LENGTHS], axis=1)


@pytest.fixture(scope="module")
def hands() -> SequenceSet:
    return make_hands(0)


def digest(s: SequenceSet) -> str:
    arrays = (s.joints, s.offsets, s.labels, s.subjects, s.split, s.edges, s.sequence_ids)
    return hashlib.sha256(b"".join(a.tobytes() for a in arrays)).hexdigest()


def bones(joints: np.ndarray) -> np.ndarray:
    """Bone lengths [..., 5, 4], wrist outward."""
    chains = joints[..., FINGER_JOINTS, :]
    starts = np.concatenate(
        [np.broadcast_to(joints[..., None, :1, :], chains[..., :1, :].shape), chains[..., :-1, :]], -2
    )
    return np.linalg.norm(chains - starts, axis=-1)


def bend(finger: str, **flexions: float) -> np.ndarray:
    angles = np.zeros(len(ANGLES))
    for joint, value in flexions.items():
        angles[ANGLES.index(f"{finger}.{joint}")] = value
    return hand_joints(angles)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_any_pose_keeps_its_bone_lengths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    angles = clip_to_limits(rng.normal(0, 2, (7, len(ANGLES))))
    palm, phalanges = rng.uniform(20, 90, (7, 5)), rng.uniform(10, 50, (7, 5, 3))
    expected = np.concatenate([palm[..., None], phalanges], axis=-1)
    assert np.allclose(bones(hand_joints(angles, palm, phalanges)), expected)


def test_a_batch_is_the_same_as_its_members() -> None:
    angles = clip_to_limits(np.random.default_rng(0).normal(0, 1, (2, 3, len(ANGLES))))
    together = hand_joints(angles)
    for i, j in np.ndindex(2, 3):
        assert np.allclose(together[i, j], hand_joints(angles[i, j]))


def test_the_straight_right_hand_has_its_thumb_at_minus_x_and_fingers_ahead() -> None:
    hand = hand_joints(np.zeros(len(ANGLES)))
    tips = hand[FINGER_JOINTS[:, -1]]
    assert (np.diff(tips[:, 0]) > 0).all()
    assert (tips[1:, 1] > 100).all()
    assert tips[:, 1].argmax() == FINGERS.index("middle")


@pytest.mark.parametrize("finger", FINGERS[1:])
def test_flexion_moves_a_fingertip_towards_the_palm_and_nothing_else(finger: str) -> None:
    straight, bent = hand_joints(np.zeros(len(ANGLES))), bend(finger, knuckle=0.5, middle=0.5)
    own = FINGER_JOINTS[FINGERS.index(finger)][1:]
    assert bent[own[-1], 2] < straight[own[-1], 2] - 20
    others = np.setdiff1d(np.arange(21), own)
    assert np.allclose(bent[others], straight[others])


def test_abduction_spreads_the_fingers() -> None:
    closed, spread = (hand_joints(pose_vector({"spread": s})[: len(ANGLES)]) for s in (0.0, 0.3))
    gap = [np.linalg.norm(h[FINGER_JOINTS[1, -1]] - h[FINGER_JOINTS[4, -1]]) for h in (closed, spread)]
    assert gap[1] > gap[0] + 20


def test_rotations_are_proper() -> None:
    angles = np.random.default_rng(1).normal(0, 1, (3, 50))
    matrices = euler_rotation(*angles)
    assert np.allclose(matrices @ matrices.swapaxes(-1, -2), np.eye(3))
    assert np.allclose(np.linalg.det(matrices), 1.0)


@pytest.mark.parametrize(("name", "finger"), [("pinch index", 1), ("pinch middle", 2)])
def test_a_pinch_meets_the_thumb_with_the_right_finger(name: str, finger: int) -> None:
    action = next(a for a in ACTIONS if a.name == name)
    held = hand_joints(action.targets(np.full(len(CHANNELS), 0.5))[: len(ANGLES)])
    tips = held[FINGER_JOINTS[:, -1]]
    distances = np.linalg.norm(tips[1:] - tips[0], axis=1)
    assert distances.argmin() == finger - 1
    assert distances.min() < 10.0


@pytest.mark.parametrize("action", ACTIONS, ids=lambda a: a.name)
def test_an_action_moves_is_smooth_and_joins_up_if_it_repeats(action: Action) -> None:
    phase = np.linspace(0.0, 1.0, 400)[:, None].repeat(len(CHANNELS), axis=1)
    course = action.targets(phase)
    assert np.ptp(course, axis=0).max() > 0.3
    travel = np.maximum(np.ptp(course, axis=0), 1e-9)
    steepest = (
        1.9 / 0.1 / 399
    )  # a minimum-jerk move peaks at 15/8 of its mean speed; no two keys are closer than 0.1
    assert (np.abs(np.diff(course, axis=0)) <= steepest * travel).all()
    if action.cycles[1] > 1 or action.begin[1] > 0:
        assert np.allclose(course[0], course[-1])


def test_reversed_and_mirrored_pairs_are_what_they_say() -> None:
    by_name = {a.name: a for a in ACTIONS}
    phase = np.linspace(0.0, 1.0, 101)[:, None].repeat(len(CHANNELS), axis=1)
    for one, other in (("grasp", "release"), ("count up", "count down")):
        assert np.allclose(by_name[one].targets(phase), by_name[other].targets(phase)[::-1])
    x, y = CHANNELS.index("x"), CHANNELS.index("y")
    for name, sense in (("stir clockwise", -1.0), ("stir anticlockwise", 1.0)):
        path = by_name[name].targets(phase)[:, [x, y]]
        swept = (
            path[:-1, 0] * path[1:, 1] - path[:-1, 1] * path[1:, 0]
        ).sum() / 2  # > 0: anticlockwise seen from above
        assert np.isclose(swept, sense * np.pi * 25.0**2, rtol=0.01)


def test_an_unknown_control_is_refused() -> None:
    with pytest.raises(KeyError, match="thum"):
        pose_vector({"thum": 1.0})


def test_performances_keep_bones_and_limits_before_the_sensor() -> None:
    rng = np.random.Generator(np.random.PCG64(3))
    people = People.sample(rng, 20)
    person, labels = np.repeat(np.arange(20), len(ACTIONS)), np.tile(np.arange(len(ACTIONS)), 20)
    made = perform(rng, people, person, labels)
    assert (made.angles >= LIMITS[:, 0]).all() and (made.angles <= LIMITS[:, 1]).all()
    lengths = bones(made.joints)
    own = np.concatenate([people.palm[..., None], people.phalanges], axis=-1)
    assert np.allclose(lengths, own[person[made.sequence]])
    assert (np.abs(own / AVERAGE_BONES - 1) < 0.3).all()
    assert own.std(axis=0).min() > 0.5
    seen = observe(rng, made, people.noise[person])
    error = np.linalg.norm(seen - made.joints, axis=-1)
    assert 1.0 < np.median(error) < 10.0


def test_sympathy_draws_fingers_together_in_a_pinch() -> None:
    people = People.sample(np.random.Generator(np.random.PCG64(4)), 8)
    gaps = []
    for sympathy in (0.0, 0.5):
        rng = np.random.Generator(np.random.PCG64(5))
        alike = replace(people, sympathy=np.full(8, sympathy))
        angles = perform(rng, alike, np.arange(8), np.zeros(8, np.int64)).angles
        index, middle = (angles[:, ANGLES.index(f"{finger}.knuckle")] for finger in ("index", "middle"))
        gaps.append(np.abs(index - middle).mean())
    assert gaps[1] < 0.7 * gaps[0]


@pytest.mark.parametrize("trait", [field.name for field in fields(People) if field.name != "noise"])
def test_every_trait_of_a_person_shows(trait: str) -> None:
    people = People.sample(np.random.Generator(np.random.PCG64(6)), 2)
    swapped = replace(people, **{trait: getattr(people, trait)[::-1]})
    person, labels = np.repeat([0, 1], len(ACTIONS)), np.tile(np.arange(len(ACTIONS)), 2)
    one, other = (
        perform(np.random.Generator(np.random.PCG64(7)), p, person, labels) for p in (people, swapped)
    )
    if trait == "tempo":
        assert (np.diff(one.offsets) != np.diff(other.offsets)).mean() > 0.9
    else:
        assert np.linalg.norm(one.joints - other.joints, axis=-1).mean() > 0.5  # millimetres


def test_shapes_sizes_and_names(hands: SequenceSet) -> None:
    assert hands.joints.dtype == np.float32 and hands.joints.shape[1:] == (21, 3)
    assert np.isfinite(hands.joints).all()
    assert len(hands.class_names) == 16 == len(set(hands.class_names))
    train, test = (hands.split == "train").sum(), (hands.split == "test").sum()
    assert (train, test) == (720, 560)
    assert 20 <= hands.lengths.min() < 35 and 100 < hands.lengths.max() <= 120
    assert hands.edges.tolist() == [list(edge) for edge in HAND.edges]
    assert hands.joint_names == HAND.joint_names and hands.root == 0
    assert len(set(hands.sequence_ids)) == len(hands)
    reach = np.linalg.norm(hands.joints[:, 14] - hands.joints[:, 0], axis=-1)
    assert 100 < np.quantile(reach, 0.9) < 220  # millimetres, wrist to the tip of the middle finger


def test_people_are_on_one_side_only_and_do_everything(hands: SequenceSet) -> None:
    people = {side: set(hands.subjects[hands.split == side]) for side in ("train", "test")}
    assert not people["train"] & people["test"]
    assert len(people["train"] | people["test"]) >= 10
    for subject in people["train"] | people["test"]:
        assert set(hands.labels[hands.subjects == subject]) == set(range(16))


def test_two_processes_make_the_same_bytes_and_another_seed_others(hands: SequenceSet) -> None:
    program = (
        "import hashlib\nfrom bandstop.skeleton.hands import make_hands\ns = make_hands(0)\n"
        "arrays = (s.joints, s.offsets, s.labels, s.subjects, s.split, s.edges, s.sequence_ids)\n"
        "print(hashlib.sha256(b''.join(a.tobytes() for a in arrays)).hexdigest())"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(hands)
    assert digest(make_hands(1)) != digest(hands)


def test_no_sequence_is_twice_there(hands: SequenceSet) -> None:
    assert len({sequence.tobytes() for sequence in hands}) == len(hands)


def test_it_is_made_quickly() -> None:
    start = time.process_time()
    make_hands(5)
    assert time.process_time() - start < 4.0  # about one second on an idle core


@pytest.mark.parametrize(
    "wrong", [{"train_people": 0}, {"test_people": -1}, {"repetitions": 0}, {"seed": -1}]
)
def test_impossible_sizes_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="embedded hands"):
        make_hands(**wrong)


def node_signals(s: SequenceSet) -> tuple[ChunkTable, Normaliser, torch.Tensor]:
    table, train = ChunkTable(s), torch.from_numpy(s.split == "train")
    chunks = table.chunks(torch.arange(len(s)), 32)
    normaliser = Normaliser.fit(chunks[train], torch.from_numpy(s.edges), s.root)
    return table, normaliser, normaliser(chunks)


@pytest.mark.parametrize("strength", [1.0, 0.01])
def test_a_linear_classifier_stays_below_85_percent(hands: SequenceSet, strength: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    x = node_signals(hands)[2].flatten(1).numpy()
    train = hands.split == "train"
    scaler = preprocessing.StandardScaler().fit(x[train])
    model = linear_model.LogisticRegression(C=strength, max_iter=1000)
    model.fit(scaler.transform(x[train]), hands.labels[train])
    accuracy = model.score(scaler.transform(x[~train]), hands.labels[~train])
    assert 0.5 < accuracy < 0.85


@pytest.mark.slow
def test_the_paper_s_network_passes_90_percent(hands: SequenceSet) -> None:
    table, normaliser, x = node_signals(hands)
    labels, rng = torch.from_numpy(hands.labels), torch.Generator().manual_seed(0)
    train = torch.from_numpy(np.flatnonzero(hands.split == "train"))
    test = torch.from_numpy(np.flatnonzero(hands.split == "test"))
    torch.manual_seed(0)
    net, change, epochs = (
        GCN(21, 96, 16, edges=torch.from_numpy(hands.edges), dropout=0.3),
        Augmentation(),
        100,
    )
    adam = torch.optim.AdamW(net.parameters(), lr=6e-3, weight_decay=1e-2)
    rate = torch.optim.lr_scheduler.OneCycleLR(adam, 6e-3, total_steps=epochs * 6, pct_start=0.1)
    for _ in range(epochs):
        for batch in train[torch.randperm(len(train), generator=rng)].split(120):
            times = change.boundaries(table.lengths[batch], 32, rng)
            seen = normaliser.signals(change(normaliser.resize(table.chunks(batch, times)), rng))
            adam.zero_grad()
            torch.nn.functional.cross_entropy(net(seen), labels[batch]).backward()
            adam.step()
            rate.step()
    net.eval()
    with torch.no_grad():
        accuracy = (net(x[test]).argmax(1) == labels[test]).float().mean().item()
    assert 0.90 <= accuracy < 1.0
