"""What still breaks a rule of the house. These lists only shrink; an empty one stays as the rule."""

LONG_FILES: set[str] = set()

LONG_FUNCTIONS: set[str] = set()

# Rooms whose modules take names that their neighbours do not export.
PRIVATE_NAMES = {"live"}

# Rooms with modules that no test of the room reaches.
UNREACHED = {"__main__", "errors", "files"}
