"""`python -m torture [GROUP …]`: tries everything that is not done yet, then prints one line."""

from __future__ import annotations

import os

for _name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # read when torch is loaded: a process that forks has one thread

from torture.run import main  # noqa: E402

raise SystemExit(main())
