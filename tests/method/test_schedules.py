"""Schedules at their ends and between."""

import pytest

from bandstop.method.schedules import Constant, Geometric, Ramp, Schedule, Window


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (Constant(2.0), (2.0, 2.0, 2.0)),
        (Ramp(0.0, 1.0, power=1.0), (0.0, 0.5, 1.0)),
        (Ramp(0.2, 1.0, begin=0.5, end=0.5), (0.2, 0.2, 1.0)),
        (Geometric(1.0, 0.01), (1.0, 0.1, 0.01)),
        (Window(3.0), (3.0, 3.0, 3.0)),
        (Window(3.0, end=0.5), (3.0, 0.0, 0.0)),
        (Window(4.0, end=1.0, power=2.0), (4.0, 1.0, 0.0)),
    ],
)
def test_values_at_the_start_the_middle_and_the_end(schedule: Schedule, values: tuple[float, ...]) -> None:
    assert tuple(schedule(progress) for progress in (0.0, 0.5, 1.0)) == pytest.approx(values)


def test_a_ramp_never_falls() -> None:
    values = [Ramp(0.0, 1.0, begin=0.1, end=0.7)(step / 100) for step in range(101)]
    assert values == sorted(values) and values[5] == 0.0 and values[70] == 1.0
