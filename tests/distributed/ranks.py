"""Many ranks on this machine: forked from a process that has torch already,
for importing it takes seconds a rank.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "lo",
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}


def scenario(name: str, *arguments: str, timeout: float = 120) -> Any:
    """Run a file beside this one in a process of its own; it prints its findings as JSON."""
    command = [sys.executable, "-m", f"tests.distributed.{name}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=ENVIRONMENT, cwd=ROOT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return json.loads(done.stdout.splitlines()[-1])


@lru_cache(maxsize=1)
def _warm() -> None:
    """What ranks import and compile late, so that they inherit it; nothing is differentiated,
    which threads do not outlive.
    """
    import torch._dynamo
    import torch.distributed.checkpoint
    import torch.distributed.fsdp

    from bandstop.method.histogram.kl import kl_to_prior
    from bandstop.method.priors import Laplace

    torch.set_num_threads(1)
    kl_to_prior([torch.ones(3)], Laplace(1.0))


def on_ranks(world: int, function: Callable[..., Any], *arguments: Any, timeout: float = 60) -> list[Any]:
    """What ``function`` returns on each of ``world`` gloo ranks;
    must be called before anything is differentiated.
    """
    _warm()
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        results = context.SimpleQueue()
        body = (world, f"file://{folder}/meet", results, function, arguments)
        ranks = [context.Process(target=_rank, args=(rank, *body), daemon=True) for rank in range(world)]
        for process in ranks:
            process.start()
        for process in ranks:
            process.join(timeout)
        late = [process for process in ranks if process.is_alive()]
        for process in late:
            process.kill()
        found = {}
        while not results.empty():
            rank, good, value = results.get()
            assert good, f"rank {rank}: {value}"
            found[rank] = value
        assert not late, f"{len(late)} of {world} ranks did not end within {timeout} s"
        return [found[rank] for rank in range(world)]


def _rank(
    rank: int, world: int, meet: str, results: Any, function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    import torch

    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=meet, rank=rank, world_size=world)
    try:
        results.put((rank, True, function(*arguments)))
    except BaseException:
        results.put((rank, False, traceback.format_exc()))
    finally:
        torch.distributed.destroy_process_group()
