"""One thread: two are slower for nets this small, and the tests run side by side."""

import torch

torch.set_num_threads(1)

# Doctests are looked for in every module; of several conftest.py under one name pytest can import only one.
collect_ignore_glob = ["*/conftest.py"]
