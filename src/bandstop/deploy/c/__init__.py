"""C99 from a planned program."""
