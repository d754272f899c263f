"""PyTorch, eager."""

import torch
from shared import finish, torch_net

torch.set_num_threads(1)
net = torch_net()
with torch.inference_mode():
    finish(lambda x: net(torch.from_numpy(x)).numpy())
