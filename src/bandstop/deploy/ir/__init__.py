"""The sparse program between a network and its code."""
