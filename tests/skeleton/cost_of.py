"""What reading data costs, as JSON lines: `python -m tests.skeleton.cost_of DATA …`, a process each."""

from __future__ import annotations

import json
import os
import resource
import sys
import time

from bandstop.errors import BandstopError
from bandstop.skeleton import load

ADDRESS_SPACE = 3 * 2**30


def cost(spec: str) -> dict[str, object]:
    """Seconds, megabytes beyond what was there before, and how it ended."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        load(spec)
        said = "read"
    except BandstopError as problem:
        said = str(problem)
    except BaseException as problem:
        said = f"TRACEBACK {type(problem).__name__}: {problem}"
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": time.process_time() - start, "megabytes": (after - before) / 1024, "said": said}


if __name__ == "__main__":
    for spec in sys.argv[1:]:
        if not (child := os.fork()):
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
            print(json.dumps(cost(spec)), flush=True)
            os._exit(0)
        os.waitpid(child, 0)
