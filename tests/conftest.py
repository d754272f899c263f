"""One thread: two are slower for nets this small, and the tests run side by side."""

import torch

torch.set_num_threads(1)
