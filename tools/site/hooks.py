"""What mkdocs does besides: the repository's own pages join the site, the reference follows `__all__`."""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel

sys.path.insert(0, str(Path(__file__).parent))
import reference

ROOT = Path(__file__).parents[2]
PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the repository's root that are pages of the site."""
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that lie outside of docs/, and a page with the source of every example."""
    for name, page in PAGES.items():
        files.append(File.generated(config, page, content=(ROOT / name).read_text(encoding="utf-8")))
    for script in sorted((ROOT / "examples").glob("*.py")):
        text = f"# examples/{script.name}\n\n```python\n{script.read_text(encoding='utf-8')}```\n"
        aside = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, f"examples/{script.stem}.md", content=text, inclusion=aside))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Point links into the repository at the site's pages; complete the reference."""
    here = page.file.src_uri
    origin = next((name for name, uri in PAGES.items() if uri == here), f"docs/{here}")
    if here.startswith("reference/"):
        try:
            markdown = reference.with_every_name(Path(here).stem, markdown)
        except ValueError as error:
            raise PluginError(str(error)) from None
    if here.startswith("examples/"):
        return markdown
    markdown = markdown.replace("\\<", "&lt;")  # an escape of GitHub's Markdown that Python's does not know
    return LINK.sub(lambda found: _moved(found, origin, here), markdown)


def _moved(found: re.Match[str], origin: str, here: str) -> str:
    """A link between files of the repository as a link between pages of the site."""
    opening, link, anchor, closing = found.groups()
    if ":" in link:
        return found[0]
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), link))
    if path in PAGES:
        path = PAGES[path]
    elif path.startswith("docs/"):
        path = path.removeprefix("docs/")
    elif path.startswith("examples/") and path.endswith(".py"):
        path = path.removesuffix(".py") + ".md"
    else:
        raise PluginError(f"{origin} links to {link}, which is no page of the site")
    return f"{opening}{posixpath.relpath(path, posixpath.dirname(here) or '.')}{anchor or ''}{closing}"


def on_pre_build(config: Any) -> None:
    """Refuse to build a reference with public names that say nothing."""
    if missing := [path for door in reference.DOORS for path in reference.undocumented(door)]:
        raise PluginError(f"public names without a docstring: {', '.join(missing)}")
