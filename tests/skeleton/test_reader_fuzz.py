"""Whatever is done to a data file, a reader gives a set or one DataError that names the file and the line."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bandstop.errors import DataError
from bandstop.skeleton import SequenceSet, describe, load
from bandstop.skeleton.readers.files import MAX_TEXT_BYTES
from tests.skeleton.sample_trees import TREES

TEXT = (".txt", ".csv", ".json", ".jsonl")
TOKENS = [
    "nan",
    "inf",
    "-inf",
    "1e999",
    "",
    "x",
    "1_0",
    "0x1",
    "١",
    "é",
    "\0",
    "[",
    "}",
    '"',
    ",",
    " ",
    "\n",
    "9" * 400,
]

positions = st.floats(0, 1, allow_nan=False)
mutations = st.one_of(
    st.tuples(st.just("truncate"), positions),
    st.tuples(st.just("replace"), st.binary(max_size=200)),
    st.tuples(st.just("insert"), positions, st.binary(min_size=1, max_size=12)),
    st.tuples(st.just("token"), positions, st.sampled_from(TOKENS)),
    st.tuples(st.just("overwrite"), positions, st.binary(min_size=1, max_size=4)),
    st.tuples(st.just("drop line"), positions),
    st.tuples(st.just("drop field"), positions),
    st.tuples(st.just("encode"), st.sampled_from(["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])),
    st.tuples(st.just("repeat")),
)


def mutate(content: bytes, mutation: tuple) -> bytes:
    kind, *rest = mutation
    at = int(rest[0] * len(content)) if rest and isinstance(rest[0], float) else 0
    if kind == "truncate":
        return content[:at]
    if kind == "replace":
        return rest[0]
    if kind in ("insert", "token"):
        new = rest[1] if isinstance(rest[1], bytes) else rest[1].encode()
        return content[:at] + new + content[at:]
    if kind == "overwrite":
        return content[:at] + rest[1] + content[at + len(rest[1]) :]
    if kind == "drop line":
        end = content.find(b"\n", at)
        return content[:at] + content[end if end >= 0 else len(content) :]
    if kind == "drop field":
        end = min(
            (p for p in (content.find(mark, at) for mark in (b",", b" ")) if p >= 0), default=len(content)
        )
        return content[:at] + content[end + 1 :]
    if kind == "encode":
        return content.decode("latin-1").encode(rest[0])
    return content + content


def files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def read_or_refuse(spec: str, folder: Path, changed: Path) -> None:
    try:
        found = load(spec)
    except DataError as problem:
        assert str(folder) in str(problem.path), f"{problem} does not name the file"
        assert "\n" not in str(problem)
        if Path(str(problem.path)) == changed and changed.suffix in TEXT:
            assert problem.line is not None, f"{problem} does not name the line"
        return
    assert isinstance(found, SequenceSet)
    assert describe(found).lines()
    try:
        assert np.isfinite(found.repaired().joints).all()
    except DataError as problem:
        assert "sequence" in str(problem)


@pytest.mark.parametrize("kind", TREES)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(which=st.integers(0, 100), mutation=mutations)
def test_a_broken_file_is_read_or_refused(kind: str, tmp_path: Path, which: int, mutation: tuple) -> None:
    spec = tmp_path / "spec"
    if not spec.exists():
        spec.write_text(TREES[kind](tmp_path / "tree"))
    files = files_of(tmp_path / "tree")
    victim = files[which % len(files)]
    whole = victim.read_bytes()
    try:
        victim.write_bytes(mutate(whole, mutation))
        read_or_refuse(spec.read_text(), tmp_path / "tree", victim)
    finally:
        victim.write_bytes(whole)


@pytest.mark.parametrize("kind", TREES)
def test_every_file_missing_emptied_or_turned_into_a_folder(kind: str, tmp_path: Path) -> None:
    count = len(files_of_tree(kind, tmp_path / "count"))
    for which in range(count):
        for what in ("missing", "empty", "folder", "pipe"):
            folder = tmp_path / f"{which}-{what}"
            spec = TREES[kind](folder)
            victim = files_of(folder)[which]
            if what == "empty":
                victim.write_bytes(b"")
                with pytest.raises(DataError) as refused:
                    load(spec)
                assert str(victim) in str(refused.value)
                continue
            victim.unlink()
            if what == "folder":
                victim.mkdir()
            elif what == "pipe":
                os.mkfifo(victim)
            read_or_refuse(spec, folder, folder)


def files_of_tree(kind: str, folder: Path) -> list[Path]:
    TREES[kind](folder)
    return files_of(folder)


@pytest.mark.parametrize("kind", ["fpha", "sbu", "utd-mhad", "folder", "mediapipe"])
def test_a_link_out_of_the_folder_is_refused(kind: str, tmp_path: Path) -> None:
    for which in range(len(files_of_tree(kind, tmp_path / "count"))):
        folder, outside = tmp_path / f"{which}", tmp_path / f"outside-{which}"
        spec = TREES[kind](folder)
        victim = files_of(folder)[which]
        victim.rename(outside)
        victim.symlink_to(outside)
        if kind == "fpha" and victim.parent == folder:
            continue  # the split file is named by the user's path itself
        with pytest.raises(DataError, match="leaves the folder") as refused:
            load(spec)
        assert str(victim) in str(refused.value)


@pytest.mark.parametrize("kind", ["fpha", "sbu", "folder", "mediapipe"])
def test_a_linked_folder_out_of_the_tree_is_refused(kind: str, tmp_path: Path) -> None:
    spec = TREES[kind](tmp_path / "tree")
    inner = max(files_of(tmp_path / "tree"), key=lambda path: len(path.parts)).parent
    inner.rename(tmp_path / "elsewhere")
    inner.symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with pytest.raises(DataError, match="leaves the folder"):
        load(spec)


def test_a_link_loop_is_refused(tmp_path: Path) -> None:
    spec = TREES["folder"](tmp_path)
    (tmp_path / "wave" / "loop.npy").symlink_to(tmp_path / "wave" / "loop.npy")
    with pytest.raises(DataError, match=r"loop\.npy: no such file, or a broken link"):
        load(spec)


def test_a_link_that_stays_inside_is_followed(tmp_path: Path) -> None:
    spec = TREES["folder"](tmp_path)
    (tmp_path / "wave" / "s03_again.npy").symlink_to(tmp_path / "wave" / "s01_a.npy")
    assert len(load(spec)) == 7


@pytest.mark.parametrize("kind", ["fpha", "sbu", "utd-mhad", "mediapipe"])
def test_a_huge_file_is_refused_before_it_is_parsed(kind: str, tmp_path: Path) -> None:
    spec = TREES[kind](tmp_path)
    victim = files_of(tmp_path)[0]
    os.truncate(victim, 50 * MAX_TEXT_BYTES)
    with pytest.raises(DataError, match="too much for one sequence") as refused:
        load(spec)
    assert str(victim) in str(refused.value)
