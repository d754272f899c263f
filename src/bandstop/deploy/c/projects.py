"""Projects of exported C that build as they are: for PlatformIO and for CMake."""

from __future__ import annotations

import json

from bandstop.deploy.c.library import Library
from bandstop.deploy.c.text import filled

__all__ = ["cmake_texts", "platformio_texts"]


def platformio_texts(library: Library) -> dict[str, str]:
    """A PlatformIO project: the recogniser in ``lib/``, where others can be put beside it, and a program.

    The program is the library's first sketch; the other sketches lie in the library's ``examples/``.
    """
    name = library.name
    about = {
        "name": name,
        "version": "1.0.0",
        "description": f"{library.sentence} {library.paragraph}",
        "headers": library.header,
        "frameworks": "*",
        "platforms": "*",
    }
    usual, *others = library.sketches
    return {
        "platformio.ini": filled("platformio.ini", name=name) + "\n",
        f"lib/{name}/library.json": json.dumps(about, indent=2) + "\n",
        **{f"lib/{name}/src/{file}": text for file, text in library.sources.items()},
        **{f"lib/{name}/examples/{one}/{one}.ino": library.sketches[one] for one in others},
        "src/main.cpp": f"#include <Arduino.h>\n{library.sketches[usual]}",
    }


def cmake_texts(library: Library) -> dict[str, str]:
    """A CMake project: a library for ``add_subdirectory``, and an example when built on its own."""
    name = library.name
    sources = " ".join(f"src/{file}" for file in library.sources if file.endswith(".c"))
    lists = filled("CMakeLists.txt", name=name, sources=sources)
    return {
        "CMakeLists.txt": lists + "\n",
        **{f"src/{file}": text for file, text in library.sources.items()},
        "example/main.c": library.main,
    }
