"""The names of a signal's parts."""

from __future__ import annotations

import pytest

from bandstop.errors import ConfigError
from bandstop.record.signal import signal_parts


def test_parts_keep_their_order() -> None:
    assert signal_parts("places+distances+steps") == ("places", "distances", "steps")
    assert signal_parts("places") == signal_parts("motion") == ()


@pytest.mark.parametrize(
    ("signal", "message"),
    [
        ("places+speed", r"has no part 'speed', found 'places\+speed'; there are places, steps"),
        ("places+motion+bones", r"has no part 'motion', .* write steps, or steps\+slow for two speeds"),
        ("steps+places", "begins with places"),
        ("places+steps+steps", "each part once"),
        ("", "has no part ''"),
    ],
)
def test_what_is_no_signal_is_refused(signal, message) -> None:
    with pytest.raises(ConfigError, match=message):
        signal_parts(signal)
