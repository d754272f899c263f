"""The trained stream recogniser: frame by frame as at once, from its folder as from memory."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bandstop.cli import main
from bandstop.errors import ConfigError, DataError
from bandstop.live import (
    LiveRecogniser,
    events_of,
    fit_live,
    load_live,
    look_at,
    measure_streams,
    read_live_settings,
)
from bandstop.skeleton import write_archive
from bandstop.skeleton.hands import make_hands
from bandstop.training.config import RunConfig
from bandstop.training.model_file import load_recogniser
from bandstop.training.run import train_run


def test_it_finds_most_gestures(small_live):
    found = small_live.result
    assert found.calibrated.met
    assert found.calibrated.measures.detection_rate > 0.6
    assert found.test is not None and found.test.false_alarms_per_minute < 6


def test_frame_by_frame_gives_the_same_events(small_live):
    live, stream = load_live(small_live.run), small_live.data.test[0]
    pushed = [event for frame in stream.joints if (event := live.push(frame)) is not None]
    at_once = events_of(look_at(live.recogniser, stream, live.settings.plan), live.settings.rule)
    assert pushed and [(e.label, e.begin, e.end, e.at) for e in pushed] == [
        (e.label, e.begin, e.end, e.at) for e in at_once
    ]
    assert [e.confidence for e in pushed] == pytest.approx([e.confidence for e in at_once], abs=1e-4)
    live.reset()
    again = [event for frame in stream.joints if (event := live.push(frame)) is not None]
    assert again == pushed


def test_lost_frames_do_not_matter_much(small_live):
    live, stream = load_live(small_live.run), small_live.data.test[0]
    joints = stream.joints.copy()
    joints[::17] = np.nan
    assert live.push(joints[0]) is None and live.frames == 0
    events = [event for frame in joints if (event := live.push(frame)) is not None]
    whole = events_of(look_at(live.recogniser, stream, live.settings.plan), live.settings.rule)
    a, b = (measure_streams([stream], [found]).detection_rate for found in (events, whole))
    assert abs(a - b) <= 0.5


def test_settings_survive_the_folder(small_live):
    settings = read_live_settings(small_live.run)
    assert settings.rule == small_live.result.calibrated.rule
    assert settings.validation == small_live.result.calibrated.measures.as_dict()
    assert load_live(small_live.run).class_names == small_live.data.class_names


def test_broken_settings_are_named(small_live, tmp_path):
    with pytest.raises(DataError, match=r"no live\.json"):
        read_live_settings(tmp_path)
    for text in ("", "[]", '{"format": "else"}', json.dumps({"format": "bandstop live 1", "plan": {}})):
        (tmp_path / "live.json").write_text(text)
        with pytest.raises(DataError, match="settings of a stream recogniser"):
            read_live_settings(tmp_path)


def test_wrong_frames_and_wrong_runs_are_refused(small_live, tmp_path):
    with pytest.raises(DataError, match=r"shape \[21, 3\]"):
        load_live(small_live.run).push(np.zeros((20, 3)))
    assert load_live(small_live.run).push(np.zeros((21, 2))) is None
    hands = make_hands(0, train_people=1, test_people=1, repetitions=1)
    train_run(RunConfig(method="dense", epochs=1), tmp_path / "cut", sequences=hands)
    with pytest.raises(ConfigError, match="bandstop live"):
        LiveRecogniser(load_recogniser(tmp_path / "cut"), read_live_settings(small_live.run))


def test_a_finished_run_is_judged_again_without_training(small_live):
    again = fit_live(small_live.config, small_live.data, small_live.run, false_alarms=2.0, resume=True)
    assert again.calibrated == small_live.result.calibrated


def test_command_line(tmp_path, capsys):
    write_archive(make_hands(2, train_people=3, test_people=1, repetitions=1), tmp_path / "few.npz")
    words = ["--rate", "0.9", "--epochs", "2", "--false-alarms", "30/min", "--quiet", "--out"]
    assert main(["live", str(tmp_path / "few.npz"), *words, str(tmp_path / "run")]) == 0
    said = capsys.readouterr().out
    assert "chosen for 30 false alarms a minute" in said and "test streams" in said
    assert (tmp_path / "run" / "live.json").is_file()
    assert main(["export", str(tmp_path / "run"), "--to", "c", "--out", str(tmp_path / "c")]) == 0
    assert "events as in Python" in capsys.readouterr().out
    made = {file.name for file in (tmp_path / "c").iterdir()}
    assert {"recogniser.c", "recogniser.h", "recogniser_live.c", "recogniser_live.h"} <= made
    assert main(["live", "hands", "--out", str(tmp_path / "x"), "--false-alarms", "some"]) == 2


def test_another_rate_of_false_alarms_takes_another_threshold(small_live):
    chosen = load_live(small_live.run)
    rule = chosen.recogniser.rejection
    assert rule.threshold == chosen.settings.rule.threshold and rule.met == chosen.settings.met
    strict = load_live(small_live.run, false_alarms="1/hour").settings.rule.threshold
    loose = load_live(small_live.run, false_alarms="60/min").settings.rule.threshold
    assert loose <= chosen.settings.rule.threshold <= strict and loose < strict
    with pytest.raises(ConfigError, match="false alarms a minute, found '2%'"):
        load_live(small_live.run, false_alarms="2%")


def test_predict_names_the_gestures_of_a_stream(small_live, tmp_path, capsys):
    stream = small_live.data.validation[0].joints
    np.save(tmp_path / "stream.npy", stream)
    np.save(tmp_path / "still.npy", np.repeat(stream[:1], 200, axis=0))
    live = load_live(small_live.run)
    wanted = [e for frame in stream if (e := live.push(frame)) is not None]
    words = ["predict", str(small_live.run), str(tmp_path / "stream.npy")]
    assert main([*words, "--layout", "same"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert len(said) == len(wanted) and live.class_names[wanted[0].label] in said[0]
    assert main([*words, str(tmp_path / "still.npy"), "--json", "--layout", "same"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["at"] for event in rows[0]["events"]] == [e.at for e in wanted]
    assert rows[1]["events"] == []
