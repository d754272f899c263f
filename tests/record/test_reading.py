"""What a user says about data is plain text that a run can store."""

from dataclasses import asdict

from bandstop.record.reading import AS_IT_SAYS, SAME, Reading


def test_nothing_is_said_unless_it_is_said() -> None:
    assert asdict(AS_IT_SAYS) == {"columns": "", "edges": "", "layout": ""}
    assert Reading(layout=SAME) != AS_IT_SAYS == Reading()
