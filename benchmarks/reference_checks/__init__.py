"""Comparisons of the rivals with reference implementations; benchmarks/references.py runs them."""
