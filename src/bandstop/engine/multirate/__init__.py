"""One training that serves a range of rates."""
