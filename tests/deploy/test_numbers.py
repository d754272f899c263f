"""One meaning of every number: the network's size is the same everywhere, the program's stands beside it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from bandstop.deploy import ExportOptions, export_model, kept_connections
from bandstop.deploy.ram import smaller_ram
from bandstop.deploy.verify import signals_of
from bandstop.engine import trace
from tests.deploy.nets_for_tests import c_files, make_model, sequences


def counted(rate: float, **config: object):
    model = make_model(rate, **config)
    return replace(model, macs=trace(model.net, model.example).macs)


@pytest.mark.parametrize("config", [{}, {"combine": "sum"}, {"kind": "lstm", "hidden": 8}])
def test_kept_connections_are_those_that_the_trace_counts(config):
    model = make_model(0.97, **config)
    assert model.kept == kept_connections(model.net) == trace(model.net, model.example).kept


@pytest.mark.parametrize("options", [{}, {"aim": "size"}, {"number": "int8"}])
def test_the_header_names_the_network_and_the_program(options):
    model = counted(0.98)
    files = c_files(model, signals_of(model, sequences()), **options)
    assert f"The network: {model.kept} kept connections, {model.macs} multiply-accumulates." in files.header
    program = (
        f"This program: {files.program.entries} stored weights, {files.program.macs} multiply-accumulates"
    )
    assert program in files.header
    assert f"a network of {model.kept} kept connections" in files.source.splitlines()[0]


@pytest.mark.parametrize("to", ["c", "wasm", "onnx", "bytes"])
def test_every_report_has_the_same_size_of_the_network(tmp_path, to):
    model = counted(0.98)
    options = ExportOptions(least_agreement=0.5)
    report = export_model(model, to, tmp_path, sequences=sequences(), options=options)
    assert (report["kept"], report["macs"]) == (model.kept, model.macs)
    assert json.loads((tmp_path / f"recogniser-{to}.json").read_text())["kept"] == model.kept
    if to in ("c", "wasm"):
        files = c_files(model)
        assert report["program_weights"] == files.program.entries
        assert report["program_macs"] == files.program.macs


def test_what_makes_memory_smaller_does():
    model = counted(0.9, combine="concat")
    inputs = signals_of(model, sequences())
    files = c_files(model)
    advice = smaller_ram(model, files, ExportOptions(), inputs)
    for row in advice:
        if row.startswith("--"):
            assert int(row.split(": ")[1].split()[0].replace(",", "")) < files.state_bytes
    assert any("--chunks 16" in row for row in advice)
    assert any("--net.combine sum" in row for row in advice)
    summed = counted(0.9, combine="sum")
    small = c_files(summed)
    assert small.state_bytes < files.state_bytes
    assert not any("combine" in row for row in smaller_ram(summed, small, ExportOptions(), inputs))
