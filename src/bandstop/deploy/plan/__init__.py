"""Which code form each operation of a program takes."""
