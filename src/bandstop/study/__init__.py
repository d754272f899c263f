"""Grids of runs: plans, where they execute (this machine, a Ray cluster), results and tables."""
