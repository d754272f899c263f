"""Settings that several commands share: one budget, and how much sequences are changed."""

import pytest

from bandstop.errors import BudgetError, ConfigError
from bandstop.method.budget import Budget
from bandstop.record.augment import AugmentConfig
from bandstop.record.budget import BudgetChoice
from bandstop.record.drop import DropChoice
from bandstop.record.formats import Format


@pytest.mark.parametrize(
    "budget",
    [
        Budget.rate(0.9),
        Budget.weights(7, "network"),
        Budget.bytes(100),
        Budget.bytes(9, "prunable"),
        Budget.macs(5),
    ],
)
def test_a_budget_is_asked_for_by_its_flags(budget: Budget) -> None:
    assert BudgetChoice(**BudgetChoice.settings(budget)).budget == budget


def test_one_budget_at_most() -> None:
    assert BudgetChoice().budget is None and BudgetChoice.settings(None)["rate"] is None
    with pytest.raises(ConfigError, match="one budget at a time: found --rate and --macs"):
        BudgetChoice(rate=0.5, macs=3)
    with pytest.raises(BudgetError, match=r"found 1\.5"):
        BudgetChoice(rate=1.5)


def test_bytes_count_the_whole_network_unless_said_otherwise() -> None:
    found = BudgetChoice(bytes=100).budget
    assert found is not None and found.scope == "network"


@pytest.mark.parametrize("bad", [{"crop": 0.9}, {"noise": -1.0}, {"rotation": float("nan")}])
def test_changes_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=rf"augment\.{next(iter(bad))} must be in"):
        AugmentConfig(**bad)


def test_formats_are_named_once() -> None:
    from bandstop.deploy import export

    assert export.Format is Format


def test_no_recording_is_left_out_unless_asked() -> None:
    assert DropChoice().drop is None
