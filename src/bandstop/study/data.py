"""Data sets named by key in a plan: where they are, their folds, and a hash that tells them apart."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bandstop.errors import ConfigError
from bandstop.record.data_forms import KINDS
from bandstop.record.reading import AS_IT_SAYS, Reading
from bandstop.skeleton import SequenceSet, load

__all__ = ["data_set_digest", "folds_of", "name_as_read", "place_of", "resolve_data"]

EMBEDDED = "hands"
SBU_FOLDS = (1, 2, 3, 4, 5)


def folds_of(data: str) -> tuple[str, tuple[int | None, ...]]:
    """Key and folds of a data set as a plan names it: SBU is judged on its five folds, or on one with
    ``@FOLD``.

    >>> folds_of("sbu"), folds_of("sbu@2"), folds_of("fpha")
    (('sbu', (1, 2, 3, 4, 5)), ('sbu', (2,)), ('fpha', (None,)))
    """
    key, at, fold = data.partition("@")
    if key != "sbu":
        return data, (None,)
    if at and fold not in map(str, SBU_FOLDS):
        raise ConfigError(f"a fold of sbu must be 1 to 5, found {data!r}")
    return key, (int(fold),) if at else SBU_FOLDS


def resolve_data(
    keys: Sequence[str],
    plan: Mapping[str, str],
    given: Sequence[str],
    folder: Path,
    known: Sequence[str] = (),
) -> dict[str, str]:
    """Where each data set is: as the command line says (``KEY=SPEC``), or the plan; the hands are embedded.

    ``keys`` are the data sets that are needed, ``known`` others that may be given all the same.

    >>> resolve_data(["hands", "fpha"], {}, ["fpha=fpha:/data/fpha"], Path())
    {'hands': 'hands', 'fpha': 'fpha:/data/fpha'}
    """
    said: dict[str, str] = {}
    for text in given:
        key, equals, spec = text.partition("=")
        if not equals or not key or not spec:
            raise ConfigError(f"--data needs KEY=DATA, for instance --data fpha=fpha:PATH, found {text!r}")
        said[key] = spec
    if strangers := sorted(set(said) - {*keys, *known}):
        names = ", ".join(dict.fromkeys([*keys, *known]))
        raise ConfigError(f"--data {strangers[0]}: the plan has no such data; it names {names}")
    found: dict[str, str] = {}
    for key in keys:
        if key in said:
            found[key] = _absolute(said[key], Path())
        elif key in plan:
            found[key] = _absolute(plan[key], folder)
        elif key == EMBEDDED:
            found[key] = EMBEDDED
        else:
            kind = key if key in KINDS else "DATA"
            raise ConfigError(
                f"the plan needs the data set {key!r}: say where it is with --data {key}={kind}:PATH"
            )
        if key == "sbu" and not re.fullmatch(r"sbu:.*[^@].", found[key]):
            raise ConfigError(
                f"sbu is judged on its five folds, so its place must be sbu:PATH, found {found[key]!r}"
            )
    return found


def place_of(data: str, places: Mapping[str, str]) -> str:
    """The full data spec of a run whose config names its data by key.

    >>> place_of("sbu@3", {"sbu": "sbu:/data/sbu"})
    'sbu:/data/sbu@3'
    """
    key, (fold, *_) = folds_of(data)
    return places[key] if fold is None else f"{places[key]}@{fold}"


def name_as_read(key: str, reading: Reading) -> str:
    """Under which name a study remembers a data set that its runs read so.

    >>> name_as_read("mine", Reading()), name_as_read("mine", Reading(columns="xy"))
    ('mine', 'mine (columns xy)')
    """
    said = [f"{name} {value}" for name, value in asdict(reading).items() if value]
    return f"{key} ({', '.join(said)})" if said else key


def data_set_digest(spec: str, reading: Reading = AS_IT_SAYS) -> str:
    """Sixteen hexadecimal digits that change with any frame, label, split or class of the data."""
    return _digest(load(spec, reading))


def _digest(s: SequenceSet) -> str:
    found = hashlib.sha256()
    for array in (s.joints, s.offsets, s.labels, s.edges):
        found.update(np.ascontiguousarray(array).tobytes())
    for texts in (s.split.tolist(), s.subjects.tolist(), list(s.class_names)):
        found.update("\0".join(texts).encode())
    if s.fold is not None:
        found.update(s.fold.tobytes())
    return found.hexdigest()[:16]


def _absolute(spec: str, folder: Path) -> str:
    """The same data from any working folder: a run may execute on another machine of a cluster."""
    if spec == EMBEDDED or re.fullmatch(rf"{EMBEDDED}:\d+", spec):
        return spec
    kind, colon, rest = spec.partition(":")
    prefix, path = (f"{kind}:", rest) if colon and kind in KINDS else ("", spec)
    return prefix + str((folder / Path(path).expanduser()).absolute())
