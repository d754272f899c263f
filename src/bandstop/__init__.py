"""bandstop: train a neural network to an exact budget of connections in a single run."""

__version__ = "0.1.0"
