"""What still breaks a rule of the house. These lists only shrink; an empty one stays as the rule."""

LONG_FILES: set[str] = set()

LONG_FUNCTIONS = {
    "src/bandstop/training/run.py:train_run",
    "tests/report/conftest.py:write_run",
}

# Rooms whose modules take names that their neighbours do not export.
PRIVATE_NAMES = {"live", "report", "training"}

# Rooms with modules that no test of the room reaches.
UNREACHED = {"__main__", "cli", "engine", "method", "rivals", "errors", "files", "training"}
