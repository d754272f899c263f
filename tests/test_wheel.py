"""The built wheel is complete and runs away from the source tree."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MADE_BY_PYTHON = {".pyc", ".nbc", ".nbi"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(out.glob("*.whl"))


def test_it_holds_every_source_and_data_file(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    source = ROOT / "src"
    wanted = {
        str(path.relative_to(source))
        for path in (source / "bandstop").rglob("*")
        if path.is_file() and path.suffix not in MADE_BY_PYTHON
    }
    assert not wanted - held
    assert {name for name in held if name.startswith("bandstop/")} == wanted
    kinds = {"deploy": ".c", "report": ".j2", "study": ".toml"}
    for folder, ending in kinds.items():
        assert any(name.startswith(f"bandstop/{folder}/") and name.endswith(ending) for name in held), folder
    assert any(name.endswith("licenses/LICENSE") for name in held)


def test_it_runs_where_it_is_installed(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "site"
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        "--target",
        str(target),
        str(wheel),
    ]
    subprocess.run(install, check=True)
    code = (
        "import bandstop, sys; print(bandstop.__file__)\n"
        "from bandstop.cli import main; sys.exit(main(['describe', 'hands']))"
    )
    environment = {**os.environ, "PYTHONPATH": str(target)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith(str(target))
    assert "1,280" in done.stdout
