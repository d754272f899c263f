"""One recogniser of several: convolution networks side by side, their scores averaged, without training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from bandstop.errors import ConfigError
from bandstop.files import only_writer
from bandstop.nets import build_net
from bandstop.nets.side_by_side import side_by_side
from bandstop.nets.tcn import TCN
from bandstop.record.folder import MODEL, read_metrics
from bandstop.record.metrics import Metrics
from bandstop.record.signal import PARTS, SHARED, signal_parts
from bandstop.skeleton import SequenceSet, load
from bandstop.skeleton.normalise import Normaliser
from bandstop.skeleton.parts import Part
from bandstop.skeleton.unusable import LeftOut, say_nothing
from bandstop.training.config import DistillConfig, RunConfig
from bandstop.training.data import TrainingData, data_of_run
from bandstop.training.model_file import Recogniser, load_recogniser
from bandstop.training.resume import stored_config
from bandstop.training.run_folder import RunFolder

__all__ = ["join_runs"]

ALIKE = ("data", "method", "chunks", "normalise", "validation", "reading", "drop")
"""Settings that joined runs must share."""


def join_runs(
    runs: Sequence[Path],
    out: Path,
    *,
    data: str | None = None,
    seed: int | None = None,
    sequences: SequenceSet | None = None,
    say_dropped: LeftOut = say_nothing,
) -> Metrics:
    """Join pruned runs of convolutions over time into the run folder ``out``; returns its metrics.

    The weights that are kept add up, and so do the multiplications. Signals may differ: the joined network
    sees the parts of all of them. ``data``: where the data of training is now, if it has moved; ``seed``:
    that of the new run, the first one's unless given. A join that was interrupted is taken up. Of a run
    that is joined itself all networks count, so that the scores are the mean of all. ``say_dropped`` is told
    which recordings are left out.
    """
    _require_different(runs)
    recognisers = [load_recogniser(run) for run in runs]
    config = _config(recognisers, runs, data, seed)
    with only_writer(out):
        folder = RunFolder(out)
        same = folder.begun and stored_config(out).to_json() == config.to_json()
        if same and (finished := folder.finished) is not None:
            return finished
        if not same:
            folder.begin(config, resumable=False)
        torch.set_num_threads(config.threads)
        source = sequences
        if source is None:
            source = load(config.data, config.reading, remembered=True)
            source = recognisers[0].in_its_order(source, where=config.data)
        prepared = data_of_run(config, source, say=say_dropped)
        net = _join(recognisers, runs, prepared, config)
        folder.write_config(config)
        seconds = sum(read_metrics(run).seconds for run in runs)
        return folder.write_result(config, net, prepared, {}, seconds=seconds)


def _config(
    recognisers: Sequence[Recogniser], runs: Sequence[Path], data: str | None, seed: int | None
) -> RunConfig:
    """That of the first run, with the sizes, parts and weights of all."""
    first, nets = recognisers[0].config, [recogniser.net for recogniser in recognisers]
    for recogniser, run in zip(recognisers, runs, strict=True):
        if not isinstance(recogniser.net, TCN) or recogniser.config.dense:
            found = "not pruned" if isinstance(recogniser.net, TCN) else f"a {recogniser.config.net.kind}"
            rule = "only pruned runs of convolutions over time (--net.kind tcn) can be joined"
            raise ConfigError(f"{rule}, {run} is {found}: leave it out")
        for name in (*ALIKE, *(("seed",) if first.validation else ())):
            if getattr(recogniser.config, name) != getattr(first, name):
                found = f"{getattr(first, name)} and {getattr(recogniser.config, name)}"
                raise ConfigError(f"joined runs must have the same {name}, found {found} in {run}")
        net = recogniser.config.net
        if (net.kernels, net.strides) != (first.net.kernels, first.net.strides):
            raise ConfigError(f"joined runs must have the same kernels and strides, found others in {run}")
    parts = {name for r in recognisers for name in signal_parts(r.config.seen) or ("places",)}
    widths = zip(*(recogniser.config.net.widths for recogniser in recognisers), strict=True)
    budget: dict[str, Any] = {"rate": None, "bytes": None, "macs": None, "rates": None, "scope": None}
    return replace(
        first,
        **budget,
        weights=sum(int(p.count_nonzero()) for net in nets for p in net.parameters() if p.ndim > 1),
        data=data or first.data,
        seed=first.seed if seed is None else seed,
        signal="+".join(name for name in PARTS if name in parts),
        net=replace(first.net, widths=tuple(map(sum, widths)), dropout=0.0),
        distill=DistillConfig(),
        extracted_from=None,
        joined_from=_networks(recognisers, runs),
    )


def _require_different(runs: Sequence[Path]) -> None:
    if len(runs) < 2:
        raise ConfigError(
            f"at least two pruned runs can be joined, found {len(runs)}: name them before --out"
        )
    _refuse_twice([str(run) for run in runs])


def _refuse_twice(runs: Sequence[str]) -> None:
    places = [(path / MODEL if (path := Path(run)).is_dir() else path).resolve() for run in runs]
    for number, place in enumerate(places):
        if place in places[:number]:
            raise ConfigError(f"each run can be joined once, found {runs[number]} twice: leave one out")


def _networks(recognisers: Sequence[Recogniser], runs: Sequence[Path]) -> tuple[str, ...]:
    """The runs whose networks are joined: of a joined run, those that it was joined from."""
    pairs = zip(recognisers, runs, strict=True)
    found = [name for r, run in pairs for name in (r.config.joined_from or (str(run),))]
    _refuse_twice(found)
    return tuple(found)


def _join(
    recognisers: Sequence[Recogniser], runs: Sequence[Path], data: TrainingData, config: RunConfig
) -> TCN:
    for recogniser, run in zip(recognisers, runs, strict=True):
        if recogniser.class_names != data.source.class_names or not _within(
            recogniser.normaliser, data.normaliser
        ):
            raise ConfigError(f"{run} was trained on other data: join runs of the same data and split")
    into = build_net(config.net, **data.shape, edges=data.source.edges.tolist())
    nets = [recogniser.net for recogniser in recognisers]
    assert isinstance(into, TCN)
    places = {value: place for place, value in enumerate(_channels(data.normaliser))}
    inputs = [[places[value] for value in _channels(r.normaliser)] for r in recognisers]
    counts = [max(1, len(recogniser.config.joined_from)) for recogniser in recognisers]
    return side_by_side([net for net in nets if isinstance(net, TCN)], inputs, into.eval(), counts)


def _parts(normaliser: Normaliser) -> tuple[Part, ...]:
    return normaliser.parts or (Part("places", normaliser.node_scale),)


def _within(one: Normaliser, other: Normaliser) -> bool:
    """Whether ``one`` is ``other`` with some of its parts only."""
    lasting = one.duration or other.duration
    alike = replace(one, parts=(), duration=lasting) == replace(other, parts=(), duration=other.duration)
    return alike and set(_parts(one)) <= set(_parts(other))


def _channels(normaliser: Normaliser) -> list[tuple[int, str, int]]:
    """What each channel of convolutions over time reads: joint, part and axis; shared ones come last."""
    values = [(part.name, axis) for part in _parts(normaliser) for axis in range(PARTS[part.name])]
    own = [value for value in values if value[0] not in SHARED]
    shared = [(-1, *value) for value in values if value[0] in SHARED]
    return [(joint, *value) for joint in range(len(normaliser.node_scale)) for value in own] + shared
