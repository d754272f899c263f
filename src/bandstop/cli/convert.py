"""`bandstop convert`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bandstop.cli.parse import Archive, DataArgument, ReadingFlags, parse
from bandstop.errors import ConfigError
from bandstop.record.drop import DropChoice
from bandstop.record.reading import AS_IT_SAYS

__all__ = ["Convert", "main"]


@dataclass(frozen=True, kw_only=True)
class Convert(DropChoice):
    """Write a data set as one sequence archive (.npz, no pickle), which every verb reads.

    Examples:
      bandstop convert sbu:~/SBU sbu.npz
      bandstop convert hands hands.npz
    """

    data: DataArgument
    """Data, named as for `bandstop train`."""
    out: Archive
    """Archive to write; must end in .npz."""
    reading: ReadingFlags = AS_IT_SAYS


def main(arguments: Sequence[str]) -> int:
    """Convert."""
    asked = parse(Convert, "convert", arguments)
    if asked.out.suffix != ".npz":
        raise ConfigError(f"an archive's name must end in .npz, found {asked.out}")

    from bandstop.cli.show import without_unusable
    from bandstop.skeleton import load, write_archive

    sequences = without_unusable(load(asked.data, asked.reading), asked.drop)
    write_archive(sequences, asked.out)
    print(f"{asked.out}: {len(sequences)} sequences, {len(sequences.class_names)} classes")
    return 0
