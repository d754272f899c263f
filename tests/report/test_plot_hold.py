"""The pictures of the prior's hold show what the log says."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from bandstop.errors import ConfigError
from bandstop.report.canvas import house_style
from bandstop.report.plot_hold import draw_quantiles, hold_panels
from bandstop.report.runfolder import Epoch, LayerFit, Quantiles


def log() -> list[Epoch]:
    return [
        Epoch(epoch=1, asked=0.5, rate=0.52, fit={"a": LayerFit(0.01), "b": LayerFit(0.2)}),
        Epoch(
            epoch=2,
            asked=0.9,
            rate=0.89,
            threshold=1.5,
            quantiles=Quantiles((-2.0, 0.0, 2.0), (-4.0, 0.1, 4.0)),
        ),
        Epoch(epoch=3, asked=0.9, rate=0.9, fit={"a": LayerFit(0.0), "b": LayerFit(0.1)}),
    ]


def lines(picture: Figure) -> list[list[float]]:
    return [list(map(float, line.get_ydata())) for line in picture.axes[0].get_lines()]  # type: ignore[arg-type]


def test_every_picture_has_the_numbers_of_the_log() -> None:
    with house_style():
        panels = dict(hold_panels(log()))
    assert lines(panels["Rate asked and observed"]) == [[0.5, 0.9, 0.9], [0.52, 0.89, 0.9]]
    assert lines(panels["Observed less asked"])[1] == pytest.approx([2.0, -1.0, 0.0])
    assert lines(panels["KL to the prior by layer"]) == [[0.01, 1e-6], [0.2, 0.1]]
    assert "Quantiles at epoch 2" in panels


def test_a_log_without_them_has_no_pictures() -> None:
    assert hold_panels([Epoch(epoch=1, rate=0.5), Epoch(epoch=2, rate=0.6)]) == []


def test_the_threshold_parts_what_passes_from_what_is_stopped() -> None:
    axes = Figure().add_subplot()
    draw_quantiles(axes, Quantiles((-2.0, -1.0, 1.0, 2.0), (-4.0, -1.0, 1.4, 4.0)), 1.5)
    passing, stopped = (list(line.get_ydata()) for line in axes.get_lines()[-2:])  # type: ignore[arg-type]
    assert (passing, stopped) == ([-4.0, 4.0], [-1.0, 1.4])
    assert {float(line.get_ydata()[0]) for line in axes.get_lines()[:2]} == {-1.5, 1.5}  # type: ignore[index]


def test_quantiles_come_in_pairs() -> None:
    with pytest.raises(ConfigError, match="found 2 and 3"):
        Quantiles((0.0, 1.0), (0.0, 1.0, 2.0))
