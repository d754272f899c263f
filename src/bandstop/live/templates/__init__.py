"""C and JavaScript of the stream recogniser."""
