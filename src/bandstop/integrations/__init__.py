"""Thin glue for other people's trainers: :mod:`.lightning`, :mod:`.transformers`, :mod:`.accelerate`."""
