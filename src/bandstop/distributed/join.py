"""Meeting the other ranks under torchrun, safely also after a restart."""

from __future__ import annotations

import os

from torch import distributed
from torch.distributed.distributed_c10d import PrefixStore
from torch.distributed.rendezvous import rendezvous

__all__ = ["join"]


def join(backend: str) -> None:
    """``init_process_group``, with an address book of its own for each restart.

    torchrun keeps its store when it restarts the ranks of a machine, and with it the addresses of the ranks
    that died: a new rank that asks before the others have written theirs would connect to one of those. Here
    each attempt writes under its own prefix.
    """
    store, rank, world = next(rendezvous("env://"))
    attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    distributed.init_process_group(
        backend, store=PrefixStore(f"attempt_{attempt}", store), rank=rank, world_size=world
    )
