"""Fetching MediaPipe's files once, with a checked hash, or from what the user has."""

from __future__ import annotations

import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from bandstop.cli import main
from bandstop.errors import DataError
from bandstop.live.studio import mediapipe


def _package(names=mediapipe.FILES) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for name in (*names, "index.d.ts", "../../outside.js"):
            entry = tarfile.TarInfo(f"package/{name}")
            entry.size = 3
            archive.addfile(entry, io.BytesIO(b"abc"))
    return packed.getvalue()


def _hash(data: bytes) -> str:
    return base64.b64encode(hashlib.sha512(data).digest()).decode()


def test_a_package_with_the_right_hash_is_unpacked(tmp_path: Path) -> None:
    data = _package()
    place = mediapipe.install_from_archive(data, tmp_path / "in" / "here", sha512=_hash(data))
    assert mediapipe.installed(place)
    assert sorted(file.name for file in place.iterdir()) == sorted(mediapipe.FILES)
    assert not (tmp_path / "outside.js").exists() and not (tmp_path / "in" / "outside.js").exists()


def test_another_hash_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="another hash"):
        mediapipe.install_from_archive(_package(), tmp_path)
    assert not any(tmp_path.iterdir())


def test_a_package_with_a_file_missing_is_refused(tmp_path: Path) -> None:
    data = _package(mediapipe.FILES[1:])
    with pytest.raises(DataError, match=r"hands\.js is missing"):
        mediapipe.install_from_archive(data, tmp_path / "x", sha512=_hash(data))


def test_from_a_folder_by_the_command_line(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("BANDSTOP_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "unpacked" / "package"
    folder.mkdir(parents=True)
    for name in mediapipe.FILES:
        (folder / name).write_bytes(b"abc")
    assert not mediapipe.installed()
    assert main(["studio", "--setup", "--from", str(folder.parent)]) == 0
    assert mediapipe.installed() and str(tmp_path / "cache") in capsys.readouterr().out
    assert main(["studio", "--setup", "--from", str(tmp_path / "nothing")]) == 2
    assert main(["studio", "--setup", "--from", str(tmp_path)]) == 2


def test_without_a_network_it_says_what_to_do(monkeypatch) -> None:
    def unreachable(*_, **__):
        raise OSError("no route")

    monkeypatch.setattr("urllib.request.urlopen", unreachable)
    with pytest.raises(DataError, match="--from"):
        mediapipe.set_up()
