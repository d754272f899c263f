"""ExecuTorch with the XNNPACK backend."""

import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower
from executorch.runtime import Runtime
from shared import FOLDER, INPUTS, finish, torch_net

torch.set_num_threads(1)
net = torch_net()
exported = torch.export.export(net, (torch.from_numpy(INPUTS[:1].copy()),))
lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()
(FOLDER / "model.pte").write_bytes(lowered.buffer)
method = Runtime.get().load_program(FOLDER / "model.pte").load_method("forward")
inputs = [torch.from_numpy(row[None].copy()) for row in INPUTS]
finish(lambda x: method.execute([x])[0], inputs)
