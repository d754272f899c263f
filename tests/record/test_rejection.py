"""The rule of "none of these"."""

from __future__ import annotations

import pytest

from bandstop.errors import ConfigError
from bandstop.record.rejection import Alarms, Rejection

CURVE = ((0.3, 30, 60), (0.6, 10, 55), (0.9, 2, 20), (0.95, 0, 0))


def test_rates_in_words() -> None:
    assert Alarms.parse("1/min") == Alarms.parse("1") == Alarms.parse("60/hour") == Alarms(1.0, True)
    assert Alarms.parse(" 5 % ").allowed(200, 7.0) == 10
    assert Alarms.parse("2/min").allowed(200, 7.0) == 14


@pytest.mark.parametrize("text", ["", "often", "0/min", "-1/min", "1/day", "100%", "1.2.3/min", ".", "nan"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="such as 1/min, 6/hour or 2%"):
        Alarms.parse(text)


def test_a_learned_none_is_never_named_and_takes_its_share() -> None:
    rule = Rejection(1.0, 0.5)
    assert rule.answer([0.0, 5.0, 1.0], ["wave", "none", "nod"]).label == -1
    assert rule.answer([0.0, 1.0, 5.0], ["wave", "none", "nod"]).label == 2
    answer = rule.answer([0.0, 5.0, 0.0], ["wave", "none", "nod"])
    assert answer.confidence == pytest.approx(1 - 1 / (2 + 2.718281828**5), rel=1e-6)


def test_temperature_softens() -> None:
    names = ["a", "b"]
    assert Rejection(1.0, 0.9).answer([0.0, 3.0], names).label == 1
    assert Rejection(3.0, 0.9).answer([0.0, 3.0], names).label == -1


def test_another_rate_takes_another_threshold() -> None:
    rule = Rejection(1.0, 0.5, "", 100, 10.0, CURVE)
    assert rule.for_alarms("1/min").threshold == 0.6
    assert rule.for_alarms("2%").threshold == 0.9
    strict = rule.for_alarms("1%")
    assert (strict.threshold, strict.met) == (0.9, False)  # 0.95 would name nothing


def test_a_stream_has_no_share_of_recordings() -> None:
    with pytest.raises(ConfigError, match="a stream has false alarms a minute, found '2%'"):
        Rejection(1.0, 0.5, "", 0, 10.0, CURVE).for_alarms("2%")
    with pytest.raises(ConfigError, match="one threshold only"):
        Rejection(1.0, 0.5).for_alarms("1/min")
    with pytest.raises(ConfigError, match=r"threshold in \(0, 1\], found 1.0 and 0"):
        Rejection(1.0, 0)
