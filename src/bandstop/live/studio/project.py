"""A studio project on disk: recordings, trainings, the bin of deleted recordings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from bandstop.live.studio.jobs import Trainings
from bandstop.live.studio.recordings import Recordings

__all__ = ["Project"]


@dataclass(frozen=True)
class Project:
    """Everything of one project lies in its folder."""

    folder: Path
    recordings: Recordings
    trainings: Trainings

    @staticmethod
    def open(folder: Path) -> Project:
        """A new or existing project."""
        folder = folder.resolve()
        recorded = folder / "recordings"
        recorded.mkdir(parents=True, exist_ok=True)
        return Project(
            folder, Recordings(recorded, folder / "bin"), Trainings(folder / "trainings", recorded)
        )
