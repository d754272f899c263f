"""One reader a file format: each gives a sequence set, or a ``DataError`` with the file and the line."""
