"""Compilers, emulators and clocks."""
