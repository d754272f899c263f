"""Trainings of the studio without its page: settings, states, and what a worker leaves behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bandstop.errors import BandstopError, ConfigError
from bandstop.live.studio.guard import refusal
from bandstop.live.studio.jobs import Trainings
from bandstop.live.studio.points import RATES, wilson
from bandstop.live.studio.takeaway import make_package
from bandstop.live.studio.worker import Job, main, read_job
from tests.live.studio.browser import recorded_folder


def _job(place: Path, **settings: object) -> Path:
    place.mkdir(parents=True)
    job = {"recordings": str(place / "recordings"), "out": str(place / "run"), **settings}
    (place / "job.json").write_text(json.dumps(job))
    return place / "job.json"


def test_a_job_is_its_file(tmp_path: Path) -> None:
    path = _job(tmp_path / "1", epochs=7)
    assert read_job(path) == Job(str(tmp_path / "1" / "recordings"), str(tmp_path / "1" / "run"), epochs=7)


def test_a_worker_says_why_it_failed(tmp_path: Path) -> None:
    assert main([str(_job(tmp_path / "1"))]) == 2
    outcome = json.loads((tmp_path / "1" / "outcome.json").read_text())
    assert outcome["state"] == "failed" and "recordings" in outcome["problem"]


def test_states_of_a_training(tmp_path: Path) -> None:
    trainings = Trainings(tmp_path, tmp_path / "recordings")
    assert trainings.numbers() == [] and trainings.latest_done() is None
    _job(tmp_path / "1")
    assert trainings.progress(1)["state"] == "stopped"
    (tmp_path / "1" / "run").mkdir()
    row = {"epoch": 1, "loss": 0.5, "train_accuracy": 50.0, "kept": 9, "rate": 0.1, "seconds": 1.0}
    (tmp_path / "1" / "run" / "log.jsonl").write_text(json.dumps(row) + "\n" + '{"epoch": 2, "lo')
    assert trainings.progress(1)["rows"] == [row]  # a half-written line waits
    (tmp_path / "1" / "outcome.json").write_text('{"state": "done"}')
    assert trainings.latest_done() == 1


@pytest.mark.parametrize("wrong", [{"epochs": "many"}, {"rate": [1]}, {"out": "/etc"}, {"recordings": "/"}])
def test_the_page_chooses_numbers_only(tmp_path: Path, wrong: dict[str, object]) -> None:
    trainings = Trainings(tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="setting"):
        trainings.start(wrong)
    assert trainings.numbers() == []


def test_unknown_packages_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a package is one of"):
        make_package("../../etc", tmp_path, tmp_path)


def test_intervals_are_wide_for_few_trials() -> None:
    few, many = wilson(0.9, 10), wilson(0.9, 1000)
    assert few[1] - few[0] > 5 * (many[1] - many[0])
    assert wilson(1.0, 12)[1] == 1.0 and wilson(0.0, 0) == (0.0, 1.0)


def test_refusals_of_sockets_are_those_of_pages() -> None:
    assert refusal({"host": "127.0.0.1:1"}, None, token="t", port=1) is not None


def _points(trainings: Trainings, number: int, found: dict[str, float]) -> None:
    for flash, (name, share) in enumerate(found.items()):
        place = trainings.place(number) / "points" / name
        place.mkdir(parents=True)
        known = {"name": name, "flash": flash, "weights_kept": flash, "measures": {"detection_rate": share}}
        (place / "point.json").write_text(json.dumps(known))


def test_the_smallest_of_the_best_sizes_is_shown_until_another_is_chosen(tmp_path: Path) -> None:
    trainings = Trainings(tmp_path, tmp_path / "recordings")
    _job(tmp_path / "1", many=True)
    assert trainings.points(1) == [] and trainings.chosen(1) is None
    _points(trainings, 1, {"0.990": 0.5, "0.940": 0.9, "0.500": 0.9})
    (tmp_path / "1" / "points" / "0.750").mkdir()  # not finished
    assert [point["name"] for point in trainings.points(1)] == ["0.990", "0.940", "0.500"]
    assert trainings.chosen(1) == "0.940"
    trainings.choose(1, "0.500")
    assert Trainings(tmp_path, tmp_path / "recordings").chosen(1) == "0.500"
    assert trainings.progress(1)["points_wanted"] == len(RATES)
    for wrong in ("0.750", "0.1", "..", "run", ""):
        with pytest.raises(ConfigError, match="has no point"):
            trainings.choose(1, wrong)
    (tmp_path / "1" / "choice.json").write_text("half")
    assert trainings.chosen(1) == "0.940"


@pytest.mark.parametrize("wrong", [{"rate": 5}, {"epochs": 0}, {"bytes": -1}])
def test_settings_that_no_training_has_are_refused_at_once(tmp_path: Path, wrong: dict[str, object]) -> None:
    trainings = Trainings(tmp_path, tmp_path)
    with pytest.raises(BandstopError):
        trainings.start(wrong)
    assert trainings.numbers() == []


def test_a_training_for_one_size_has_one_point(tmp_path: Path) -> None:
    job = _job(tmp_path / "1", epochs=2, rate=0.9)
    recorded_folder(tmp_path / "1" / "recordings")
    assert main([str(job)]) == 0
    trainings = Trainings(tmp_path, tmp_path / "1" / "recordings")
    (point,) = trainings.points(1)
    assert trainings.chosen(1) == point["name"] == "run" and trainings.latest_done() == 1
    low, high = point["detection_interval"]
    assert low <= point["measures"]["detection_rate"] <= high
    assert point["rate"] == pytest.approx(0.9, abs=0.01)
    module = trainings.point_folder(1, "run") / "export" / "recogniser_live.wasm"
    assert module.stat().st_size == point["wasm"]
