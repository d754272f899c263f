"""What `make torture` found in trainings, each a small test."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch
from safetensors import safe_open

from bandstop import Budget
from bandstop.errors import ConfigError, DataError
from bandstop.files import only_writer
from bandstop.skeleton import SequenceSet
from bandstop.skeleton.normalise import Normaliser
from bandstop.training.config import RunConfig
from bandstop.training.extract import extract_run
from bandstop.training.model_file import load_checkpoint, save_checkpoint, save_tensors
from bandstop.training.presets import starting_config
from bandstop.training.run import train_run

SMALL = {"epochs": 2, "chunks": 8}


def small(config: RunConfig | None = None, **settings: object) -> RunConfig:
    begun = config or RunConfig(rate=0.9)
    net = dataclasses.replace(begun.net, kind="gcn", channels=4, heads=2, filters=6)
    optim = dataclasses.replace(begun.optim, batch=27)
    return dataclasses.replace(begun, net=net, optim=optim, **{**SMALL, **settings})


def test_the_same_tensors_and_texts_give_the_same_bytes(tmp_path: Path) -> None:
    tensors = {"b": torch.arange(3.0), "a": torch.ones(2, 2)}
    texts = {name: f"é {name}" for name in ("x", "config", "pose", "edges")}
    for name in ("one", "two"):
        save_tensors(tmp_path / name, tensors, dict(sorted(texts.items(), reverse=name == "two")))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    with safe_open(tmp_path / "one", framework="pt") as stored:
        assert stored.metadata() == texts and torch.equal(stored.get_tensor("b"), tensors["b"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two"]


def test_a_finished_run_with_a_checkpoint_left_loses_it(tiny: SequenceSet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train_run(small(), out, sequences=tiny)
    (out / "checkpoint.safetensors").write_bytes(b"left by a kill right after the metrics")
    train_run(small(), out, sequences=tiny, resume=True)
    assert not (out / "checkpoint.safetensors").exists()


def test_an_extraction_that_was_killed_is_taken_up(tiny: SequenceSet, tmp_path: Path) -> None:
    run, out = tmp_path / "many", tmp_path / "out"
    many = small(starting_config(None, rates=True), rates="0.5:0.9")
    train_run(many, run, sequences=tiny)
    whole = extract_run(run, Budget.rate(0.8), out, sequences=tiny)
    model = (out / "model.safetensors").read_bytes()
    for left in (["config.json"], ["config.json", "log.jsonl"], [path.name for path in out.iterdir()]):
        for path in out.iterdir():
            if path.name not in left:
                path.unlink()
        again = extract_run(run, Budget.rate(0.8), out, sequences=tiny)
        assert again == whole and (out / "model.safetensors").read_bytes() == model
    with pytest.raises(ConfigError, match="is not empty"):
        extract_run(run, Budget.rate(0.7), out, sequences=tiny)


def test_a_folder_that_another_process_writes_is_refused(tiny: SequenceSet, tmp_path: Path) -> None:
    with only_writer(tmp_path / "run"), pytest.raises(ConfigError, match="another process is writing into"):
        train_run(small(), tmp_path / "run", sequences=tiny)
    assert not (tmp_path / "run").exists()


def test_a_log_that_is_no_text_is_refused(tiny: SequenceSet, tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        train_run(small(), out, sequences=tiny, show=_interrupt)
    (out / "log.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(DataError, match=r"log\.jsonl: must be UTF-8 text"):
        train_run(small(), out, sequences=tiny, resume=True)


def _interrupt(row: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("state", ["[" * 100_000, '{"dict": [[]]}', '{"dict": 3}', "{}"])
def test_a_checkpoint_with_a_broken_description_is_refused(tmp_path: Path, state: str) -> None:
    save_tensors(tmp_path / "c.safetensors", {"a": torch.ones(1)}, {"state": state})
    with pytest.raises(DataError, match="not a checkpoint"):
        load_checkpoint(tmp_path / "c.safetensors")
    save_checkpoint(tmp_path / "c.safetensors", {"a": [1, torch.ones(2)]})
    assert load_checkpoint(tmp_path / "c.safetensors")["a"][0] == 1


@pytest.mark.parametrize(
    "values", [{"root": 2}, {"edges": ((0, 5),)}, {"chunks": 2**31}, {"chunks": 0}, {"node_scale": ()}]
)
def test_a_normaliser_that_cannot_be_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match=r"joints from 0 to|chunks, found"):
        dataclasses.replace(Normaliser(0, ((0, 1),), (1.0, 1.0)), **values)


@pytest.mark.parametrize("text", ["[" * 100_000, "9" * 5000, json.dumps({"optim": {"lr": 10**400}})])
def test_a_config_beyond_all_bounds_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        RunConfig.from_json(text)


def test_the_paper_s_settings_are_stored_as_a_resumed_run_stores_them(
    tiny: SequenceSet, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    config = small(starting_config("paper"), rate=0.9)
    with pytest.raises(KeyboardInterrupt):
        train_run(config, out, sequences=tiny, show=_interrupt)
    begun = (out / "config.json").read_bytes()
    train_run(config, out, sequences=tiny, resume=True)
    assert (out / "config.json").read_bytes() == begun
