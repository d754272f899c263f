"""Pruning on many ranks."""
