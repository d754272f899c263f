"""Files appear whole or not at all, and what dead writers leave behind goes with the next one."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bandstop.errors import ConfigError
from bandstop.files import atomic_write, naming, only_writer, write_text

KILLED = """
import os, sys, signal
from bandstop.files import atomic_write
with atomic_write(sys.argv[1]) as part:
    part.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def hidden(folder: Path) -> list[Path]:
    return list(folder.glob(".*"))


@pytest.mark.parametrize("name", ["latents.safetensors", "report.html", "odd [name].json"])
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path: Path, name: str) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / name)], check=False)
    assert len(hidden(tmp_path)) == 1, "the process was to be killed in mid-write"
    write_text(tmp_path / name, "whole")
    assert hidden(tmp_path) == [] and (tmp_path / name).read_text() == "whole"


def test_a_living_writer_is_left_alone(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "a.txt") as slow:
        slow.write_text("slow")
        write_text(tmp_path / "a.txt", "quick")
        assert slow.exists() and (tmp_path / "a.txt").read_text() == "quick"
    assert (tmp_path / "a.txt").read_text() == "slow" and hidden(tmp_path) == []


@pytest.mark.parametrize("interruption", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_a_failure_leaves_what_was_there(tmp_path: Path, interruption: type[BaseException]) -> None:
    write_text(tmp_path / "a.txt", "before")
    with pytest.raises(interruption), atomic_write(tmp_path / "a.txt") as part:
        part.write_text("half")
        raise interruption
    assert (tmp_path / "a.txt").read_text() == "before" and hidden(tmp_path) == []


def test_an_error_of_the_system_names_the_file() -> None:
    with pytest.raises(OSError, match=r"left on device: 'runs/a/log\.jsonl'"), naming("runs/a/log.jsonl"):
        raise OSError(28, "No space left on device")


def test_a_file_has_its_ending_and_its_rights(tmp_path: Path) -> None:
    path = tmp_path / "new folder" / "café.safetensors"
    with atomic_write(path) as part:
        assert part.suffix == path.suffix and part.parent == path.parent
        part.write_text("whole")
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_writer_that_removed_its_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "note.txt") as part:
        part.unlink()
    assert not list(tmp_path.iterdir())


def test_a_folder_has_one_writer_at_a_time(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "a"
    with only_writer(place):
        with pytest.raises(ConfigError, match="another process is writing into"), only_writer(place):
            pass
        (place / "config.json").write_text("{}")
    with only_writer(place):  # free again, and what was written stays
        assert (place / "config.json").is_file()
    with pytest.raises(RuntimeError), only_writer(tmp_path / "new" / "b"):
        raise RuntimeError
    assert not (tmp_path / "new").exists()
    (tmp_path / "file").write_text("")
    with only_writer(tmp_path / "file"):  # who writes there says what is wrong
        pass
