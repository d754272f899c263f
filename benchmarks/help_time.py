"""How long help takes, of `bandstop` and of every verb: processor time, best of several processes.

python benchmarks/help_time.py            # prints the table
python benchmarks/help_time.py --write    # and writes benchmarks/results/help_time.json
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from bandstop.cli import VERBS
from bandstop.files import write_text

RESULT = Path(__file__).parent / "results" / "help_time.json"
LIMITS = {"--help": 0.3, "--version": 0.3}
VERB_LIMIT = 1.0
"""Seconds of processor time that help may take."""


def processor_seconds(words: list[str], times: int) -> float:
    """The least processor time of ``times`` processes, user and system."""
    best = float("inf")
    for _ in range(times):
        process = subprocess.Popen([sys.executable, "-m", "bandstop", *words], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"bandstop {' '.join(words)} failed")
        best = min(best, usage.ru_utime + usage.ru_stime)
    return round(best, 3)


def main() -> None:
    """Measure, print, and write if asked to."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--times", type=int, default=5)
    asked.add_argument("--write", action="store_true")
    given = asked.parse_args()
    commands = [["--help"], ["--version"], *([verb, "--help"] for verb in VERBS)]
    seconds = {" ".join(words): processor_seconds(words, given.times) for words in commands}
    for name, found in seconds.items():
        limit = LIMITS.get(name, VERB_LIMIT)
        print(f"bandstop {name:<20} {found:6.3f} s{'' if found <= limit else f'  over {limit} s'}")
    if given.write:
        about = {"machine": platform.machine(), "python": platform.python_version(), "best of": given.times}
        write_text(RESULT, json.dumps({"about": about, "processor_seconds": seconds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
