"""The command line: one verb a file, each thin: parse, call, print."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from bandstop.errors import BandstopError, ConfigError, MissingExtra

__all__ = ["VERBS", "main"]

VERBS = {
    "demo": "train a dense and a 98 % pruned recogniser on embedded hand motions, and show both",
    "train": "train a recogniser to a budget of connections",
    "plan": "say before training which layer will keep how many connections",
    "extract": "take another budget out of a run trained for many, without training",
    "join": "put several finished runs side by side in one network, without training",
    "live": "train a recogniser for continuous streams",
    "studio": "record gestures, train, try and take away, on a local page",
    "calibrate": "let a finished run say none of these, at a rate of false alarms that you name",
    "evaluate": "judge a finished run on data",
    "predict": "name the action in sequence files",
    "report": "make a run's page of pictures",
    "describe": "say what was understood of a data set",
    "convert": "write a data set as one sequence archive",
    "study": "carry out a plan of many runs, on this machine or a Ray cluster",
    "table": "turn a study into tables and curves",
    "export": "compile a finished run to C, WebAssembly, ONNX or bytes",
    "bench": "measure size and speed of a run's exports",
}

USAGE = """usage: bandstop VERB …

Train a neural network to an exact budget of connections, and compile it for a cheap device.

{verbs}

examples:
  bandstop demo
  bandstop train hands --rate 0.98 --out runs/hands98
  bandstop train path/to/folder --weights 800 --out runs/mine
  bandstop VERB --help"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb; returns the exit code (2 for anything that the user can mend)."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _dispatch(given)
    except BandstopError as error:
        print(f"bandstop: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("bandstop: interrupted; `--resume` continues a training", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"bandstop: {_said(error)}", file=sys.stderr)
        return 2
    except MemoryError:
        print("bandstop: out of memory", file=sys.stderr)
        return 2


def _said(error: OSError) -> str:
    """An error of the system as a sentence.

    >>> _said(OSError(28, "No space left on device", "runs/a/log.jsonl"))
    'runs/a/log.jsonl: No space left on device; make room, then go on (a training with --resume)'
    """
    if error.filename is None or error.strerror is None:
        return str(error) or type(error).__name__
    full = "; make room, then go on (a training with --resume)" if error.errno == errno.ENOSPC else ""
    return f"{error.filename}: {error.strerror}{full}"


def _dispatch(given: list[str]) -> int:
    if not given or given[0] in ("-h", "--help", "help"):
        width = max(map(len, VERBS))
        print(USAGE.format(verbs="\n".join(f"  {verb:<{width}}  {what}" for verb, what in VERBS.items())))
        return 0
    if given[0] in ("-V", "--version"):
        from bandstop import __version__

        print(f"bandstop {__version__}")
        return 0
    verb, *rest = given
    if verb not in VERBS:
        raise ConfigError(f"the verb must be one of {', '.join(VERBS)}, found {verb!r}; see bandstop --help")
    try:
        module = importlib.import_module(f"bandstop.cli.{verb}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "bandstop":
            raise
        raise MissingExtra(error.name.split(".")[0], extra="app") from None
    code: int = module.main(rest)
    return code
