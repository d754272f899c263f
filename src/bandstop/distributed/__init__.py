"""Pruning on many ranks: DistributedDataParallel and FSDP2 (``fully_shard``), with checkpoints.

The engine notices sharded weights by itself; here is what a training script calls besides.
"""

from bandstop.distributed.agreement import fingerprint, masks, require_agreement
from bandstop.distributed.checkpoint import last_checkpoint, load_checkpoint, save_checkpoint
from bandstop.distributed.join import join
from bandstop.distributed.save import full_state_dict, save_plain

__all__ = [
    "fingerprint",
    "full_state_dict",
    "join",
    "last_checkpoint",
    "load_checkpoint",
    "masks",
    "require_agreement",
    "save_checkpoint",
    "save_plain",
]
