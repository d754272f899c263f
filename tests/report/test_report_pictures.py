"""The pictures' arithmetic: what is drawn is what the run folder holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib import rcParams
from matplotlib.collections import PathCollection
from matplotlib.patches import Circle
from safetensors.numpy import load_file

from bandstop.errors import ConfigError, DataError
from bandstop.method.gate import Garrote, Logistic, Soft
from bandstop.report.canvas import figure, house_style
from bandstop.report.figure import write_figure
from bandstop.report.plot_adjacency import draw_adjacency
from bandstop.report.plot_gate import find_gate, gate_panels, gate_shapes
from bandstop.report.plot_histogram import chosen_moments, density, draw_histogram
from bandstop.report.plot_reads import draw_reads
from bandstop.report.posture import flat_positions
from bandstop.report.runfolder import read_run
from bandstop.report.weights import Weights

MakeRun = Callable[..., Path]


def png_size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])


@pytest.mark.parametrize(
    "changes", [{}, {"pruned": False}, {"net": "lstm", "log": False}, {"pose": False}, {"net": "tcn"}]
)
def test_the_hero_picture_is_1200_wide(make_run: MakeRun, tmp_path: Path, changes: dict[str, object]) -> None:
    run = make_run(**changes)
    written = write_figure(run, tmp_path / "hero.png")
    assert png_size(written)[0] == 1200
    drawing = write_figure(run, tmp_path / "hero.svg").read_text()
    assert 'width="1200pt"' in drawing and "<text" not in drawing
    assert write_figure(run, tmp_path / "again.svg").read_text() == drawing


def test_a_picture_has_a_known_form_and_a_run(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.png or \.svg, found 'hero\.gif'"):
        write_figure(make_run(), tmp_path / "hero.gif")
    with pytest.raises(DataError, match="a run folder is expected"):
        write_figure(tmp_path / "nothing", tmp_path / "hero.png")
    assert not list(tmp_path.glob("*hero*"))


def test_the_house_style_does_not_leak() -> None:
    before = dict(rcParams)
    with house_style():
        assert rcParams["text.parse_math"] is False
    assert dict(rcParams) == before


def test_each_connection_is_one_curve_or_one_ring() -> None:
    head = np.zeros((4, 4))
    head[0, 1], head[1, 0], head[2, 2], head[3, 0] = 1.0, -2.0, 0.5, -0.1
    positions = flat_positions(Weights(edges=((0, 1), (1, 2), (2, 3))), 4)
    axes = figure(100, 100).add_subplot()
    draw_adjacency(axes, head, positions, ((0, 1), (1, 2), (2, 3)), largest=2.0)
    # The joints are a PathCollection too: one shape at several offsets.
    (curves,) = (c for c in axes.collections if isinstance(c, PathCollection) and len(c.get_paths()) > 1)
    widths = [float(width) for width in curves.get_linewidths()]
    assert len(curves.get_paths()) == 3
    assert widths == sorted(widths, reverse=True) and len(set(widths)) == 3
    assert sum(isinstance(patch, Circle) for patch in axes.patches) == 1
    strongest = curves.get_paths()[0].vertices
    np.testing.assert_allclose(strongest[0], positions[0])  # row 1 listens to column 0


def test_a_disc_is_as_large_as_what_reads_its_joint() -> None:
    counts, positions = np.array([0, 4, 8]), flat_positions(Weights(edges=((0, 1), (1, 2))), 3)
    axes = figure(100, 100).add_subplot()
    draw_reads(axes, counts, positions, ((0, 1), (1, 2)), most=8)
    discs = next(c for c in axes.collections if isinstance(c, PathCollection))
    sizes = discs.get_sizes()
    assert sizes[0] == 0 and sizes[2] == 2 * sizes[1]
    np.testing.assert_allclose(discs.get_offsets(), positions)


def test_connections_are_counted_by_part_and_joint(make_run: MakeRun) -> None:
    run = make_run(net="tcn")
    weight = load_file(run / "model.safetensors")["blocks.0.conv.weight"]
    by_value = np.count_nonzero(weight, axis=(0, 2)).reshape(-1, 7)  # joint by joint, seven values of each
    reads = dict(read_run(run).weights.reads)
    assert list(reads) == ["places", "steps", "duration"]
    np.testing.assert_array_equal(reads["places"], by_value[:, :3].sum(1))
    np.testing.assert_array_equal(reads["steps"], by_value[:, 3:6].sum(1))
    np.testing.assert_array_equal(reads["duration"], by_value[:, 6])


def test_a_flat_pose_is_drawn_as_it_is_up_to_turning() -> None:
    rng = np.random.default_rng(3)
    flat = rng.normal(size=(7, 2))
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    pose = np.c_[flat, np.zeros(7)] @ turn.T
    drawn = flat_positions(Weights(pose=pose, root=2), 7)

    def distances(points: np.ndarray) -> np.ndarray:
        return np.linalg.norm(points[:, None] - points[None], axis=-1)

    ratio = distances(drawn)[0, 1] / distances(flat)[0, 1]
    np.testing.assert_allclose(distances(drawn), ratio * distances(flat), atol=1e-9)
    assert np.ptp(drawn, axis=0).max() == pytest.approx(1)
    centre = drawn.mean(axis=0)
    assert centre[1] > drawn[2, 1] and centre[0] == pytest.approx(drawn[2, 0], abs=1e-9)


def test_bones_without_a_pose_get_even_lengths() -> None:
    edges = tuple((joint, joint + 1) for joint in range(6))
    drawn = flat_positions(Weights(edges=edges), 7)
    lengths = [np.linalg.norm(drawn[a] - drawn[b]) for a, b in edges]
    assert max(lengths) < 1.2 * min(lengths)
    apart = flat_positions(Weights(edges=((0, 1), (2, 3))), 4)
    assert np.isfinite(apart).all()
    assert np.isfinite(flat_positions(Weights(), 5)).all()
    assert np.isfinite(flat_positions(Weights(), 1)).all()


def test_gates_are_found_with_their_settings() -> None:
    assert find_gate({"prune": {"gate": "garrote", "power": 3.0, "leak": 0.5, "kl": 1}}) == (
        "garrote",
        Garrote(3.0, 0.5),
    )
    assert find_gate({"a": {"gate": {"name": "logistic", "sigma": 2}}}) == ("logistic", Logistic(2.0))
    assert find_gate({"gate": "unheard of", "b": {"gate": "soft"}}) == ("soft", Soft())
    assert find_gate({"net": {"kind": "gcn"}}) is None


def test_gate_curves_follow_the_log(make_run: MakeRun) -> None:
    ramped = gate_shapes(read_run(make_run("soft")).log)
    thresholds = [shape.threshold for shape in ramped]
    assert thresholds == sorted(thresholds) and thresholds[-1] == pytest.approx(-np.log(0.02))
    annealed = gate_shapes(read_run(make_run("logistic", gate="logistic")).log)
    heats = [shape.temperature for shape in annealed]
    assert heats == sorted(heats, reverse=True) and heats[-1] == pytest.approx(1e-3)
    assert {shape.threshold for shape in annealed} == {thresholds[-1]}
    _, weighted = gate_panels(Soft(), ramped)
    x, y = weighted.axes[0].lines[-1].get_data()
    np.testing.assert_allclose(y, np.sign(x) * np.clip(np.abs(x) - thresholds[-1], 0, None), atol=1e-12)
    assert gate_shapes([]) == []


def test_moments_span_training(make_run: MakeRun) -> None:
    log = read_run(make_run(epochs=80)).log
    moments = [epoch.epoch for epoch in chosen_moments(log)]
    assert moments[0] == 1 and moments[-1] == 80 and len(moments) == 6 and moments == sorted(moments)


def test_layer_thresholds_are_marked_on_both_sides(make_run: MakeRun) -> None:
    last = chosen_moments(read_run(make_run()).log)[-1].histogram
    assert last is not None
    axes = figure(100, 100).add_subplot()
    draw_histogram(axes, last, top=1.0)
    (marks,) = (line for line in axes.lines if line.get_marker() == "|")
    expected = [side * (last.threshold + shift) for side in (-1, 1) for shift in (-0.1, 0.1)]
    assert sorted(marks.get_xdata()) == pytest.approx(sorted(expected))


def test_a_closed_limb_is_stretched_to_its_bones() -> None:
    folded = np.array([[0, 0, 0], [0, 1, 0], [0, 0.2, 0.1], [1, 0, 0], [2, 0, 0.0]])
    edges = ((0, 1), (1, 2), (0, 3), (3, 4))
    drawn = flat_positions(Weights(pose=folded, edges=edges), 5)
    lengths = [np.linalg.norm(drawn[a] - drawn[b]) for a, b in edges]
    bones = [np.linalg.norm(folded[a] - folded[b]) for a, b in edges]
    np.testing.assert_allclose(np.divide(lengths, bones), lengths[0] / bones[0], rtol=0.1)
    assert np.linalg.norm(drawn[2] - drawn[0]) > 0.9 * (lengths[0] + lengths[1])


def test_density_has_unit_area() -> None:
    centres = np.linspace(-2, 2, 41).tolist()
    heights = density(np.arange(41.0).tolist(), centres)
    assert heights.sum() * 0.1 == pytest.approx(1)
    assert density([0.0] * 41, centres).sum() == 0
