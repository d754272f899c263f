"""What a training shows while it runs."""

import pytest

from bandstop.training.progress import Progress

ROW = {"epoch": 3, "loss": 1.25, "penalty": 0.0, "kl": 0.3, "train_accuracy": 50.0, "rate": 0.9}


def test_plain_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("mine", 3) as show:
        show({**ROW, "epoch": 2})
        show(ROW)
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1 and said[0].startswith("mine: epoch 3/3  loss 1.250")


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with Progress("mine", 3, quiet=True) as show:
        show(ROW)
    assert capsys.readouterr().err == ""


def test_no_divergence_is_shown_where_it_is_no_part_of_the_loss(capsys: pytest.CaptureFixture[str]) -> None:
    for penalty, shown in ((0.0, False), (0.9, True)):
        with Progress("mine", 3) as show:
            show({**ROW, "penalty": penalty})
        assert ("KL" in capsys.readouterr().err) is shown
