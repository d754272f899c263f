"""Our rivals beside reference implementations:
`python benchmarks/references.py [OWNER/NAME=FOLDER …] [--page]`.

Each OWNER/NAME=FOLDER names a reference and where it is checked out (see reference_checks/sources.py for the
list); its comparisons replace those in benchmarks/results/references.json, the others stay. `--alone`
measures our rivals by themselves again, `--page` writes the tables of docs/rivals.md and does nothing else.
One thread; a few minutes in all.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import torch
from reference_checks import agreement, choices, lockstep, sources, trainings
from reference_checks.borrowed import commit
from references_page import PAGE, RESULTS, with_tables

from bandstop.files import write_text

Found = dict[str, Any]


def compare(name: str, root: Path) -> Found:
    """All comparisons with one reference."""
    with contextlib.redirect_stdout(io.StringIO()):  # they print
        modules = sources.load(name, root)
        return {
            "commit": commit(root),
            "by_authors": name in sources.BY_AUTHORS,
            "agreement": agreement.rows(name, modules, root) + lockstep.rows(name, modules),
            "trainings": [
                trainings.beside(method, train, modules)
                for method, theirs, train in trainings.TRAININGS
                if theirs == name
            ],
        }


def main(arguments: list[str]) -> None:
    """Compare what is given and write the results and the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("references", nargs="*", metavar="OWNER/NAME=FOLDER")
    parser.add_argument("--alone", action="store_true", help="measure our rivals by themselves")
    parser.add_argument("--page", action="store_true", help="write the tables of docs/rivals.md only")
    options = parser.parse_args(arguments)
    given = dict(pair.split("=", 1) for pair in options.references)
    if unknown := set(given) - set(sources.NEEDS):
        parser.error(f"unknown reference {sorted(unknown)[0]!r}; known: {', '.join(sources.NEEDS)}")
    torch.set_num_threads(1)
    found: Found = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {"references": {}}
    for name, folder in given.items():
        found["references"][name] = compare(name, Path(folder).resolve())
        print(f"{name}: compared", flush=True)
    if options.alone:
        found.update(alone=choices.alone(), choices=choices.choices(), longer=choices.longer())
    if not options.page:
        found["command"] = "python benchmarks/references.py OWNER/NAME=FOLDER … --alone"
        found["references"] = {
            name: found["references"][name] for name in sources.NEEDS if name in found["references"]
        }
        write_text(RESULTS, json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    if "alone" in found:
        write_text(PAGE, with_tables(PAGE.read_text(), found))


if __name__ == "__main__":
    main(sys.argv[1:])
