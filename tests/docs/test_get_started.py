"""The commands and scripts of the Get-started pages run in an empty folder,
in the order in which they stand there.
"""

import re
import shlex
from pathlib import Path

import pytest

from tests.docs.scripts import ROOT

BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)
EPOCHS = re.compile(r"--epochs \d+")


def blocks(page: str) -> list[tuple[str, str]]:
    return BLOCK.findall((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))


def run(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch, epochs: int) -> None:
    from bandstop.cli import main

    monkeypatch.chdir(folder)
    scope: dict[str, object] = {}
    for kind, text in blocks(page):
        if kind == "python":
            exec(compile(text, page, "exec"), scope)
            continue
        for line in text.splitlines():
            if line.startswith("bandstop ") and not line.startswith("bandstop bench"):  # slow
                assert main(shlex.split(EPOCHS.sub(f"--epochs {epochs}", line))[1:]) in (0, None), line


def test_gestures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("start-gestures", tmp_path, monkeypatch, epochs=3)
    assert (tmp_path / "runs" / "hands98" / "report.html").is_file()
    assert (tmp_path / "device" / "recogniser.c").is_file()
    assert "4,992 of 249,600" in capsys.readouterr().out


def test_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run("start-network", tmp_path, monkeypatch, epochs=3)
    said, page = capsys.readouterr().out, (ROOT / "docs" / "start-network.md").read_text(encoding="utf-8")
    assert "\n".join(said.splitlines()[:2]) in page
    accuracy = float(re.search(r"accuracy ([\d.]+)%", said)[1])  # type: ignore[index]
    assert accuracy > 88


def test_fine_tuning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("fine-tuning", tmp_path, monkeypatch, epochs=3)
    said, page = capsys.readouterr().out, (ROOT / "docs" / "fine-tuning.md").read_text(encoding="utf-8")
    assert "\n".join(said.splitlines()[-2:]) in page
    trained, attached, pruned = (float(found) for found in re.findall(r": ([\d.]+)%", said)[:3])
    assert trained == attached > 90 and pruned > trained - 5


def test_deploy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("start-deploy", tmp_path, monkeypatch, epochs=3)
    for made in (
        "device/recogniser.h",
        "device8/recogniser.c",
        "web/recogniser.wasm",
        "packed/recogniser.bsn",
    ):
        assert (tmp_path / made).is_file(), made
