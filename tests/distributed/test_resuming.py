"""Checkpoints are resumed on any number of ranks and end with the same budget."""

from pathlib import Path

from tests.distributed.ranks import scenario
from tests.distributed.small import SIZES


def _largest_difference(one: dict[str, list[float]], other: dict[str, list[float]]) -> float:
    return max(abs(a - b) for name in one for a, b in zip(one[name], other[name], strict=True))


def test_resuming_on_other_numbers_of_ranks(tmp_path: Path) -> None:
    found = scenario("resuming", str(tmp_path))
    assert (
        found["nothing"]
        == [[None, ["step-00000003", "step-00000004", "step-00000007.part"], "step-00000004"]] * 2
    )
    runs = ("10 to 2", "10 to 4", "17 to 1", "17 to 2", "17 to 4", "four to 2", "held to 2", "held to 4")
    for run in runs:
        straight = found["straight held" if run.startswith("held") else "straight"][0]
        begun, ranks = found[f"begun {run.split()[0]}"], found[run]
        for rank in ranks:
            assert rank["loaded"] == begun, run  # the masks are those that were saved
            assert rank["kept"] == round(0.2 * sum(SIZES)), run
            assert rank["masks"] == ranks[0]["masks"] and rank["thresholds"] == ranks[0]["thresholds"], run
        assert ranks[0]["file"] and ranks[0]["extra"] == {
            "way": "ddp" if run.startswith("four") else "fsdp"
        }, run
        assert _largest_difference(ranks[0]["weights"], straight["weights"]) < 1e-4, run
    same = {"10 to 2": "straight", "17 to 2": "straight", "held to 2": "straight held"}
    for run, straight in same.items():  # on as many ranks as before: nothing at all is lost
        assert found[run][0]["weights"] == found[straight][0]["weights"], run
