"""The site builds without a warning: no dead link, no page that is left out, nothing from the network."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.scripts import ROOT

pytest.importorskip("mkdocs", reason="the documentation's tools are not installed: bandstop[docs]")
pytest.importorskip("material", reason="the documentation's tools are not installed: bandstop[docs]")
LOADED = re.compile(
    r"""<(?:script|img|iframe)\b[^>]*\bsrc=["']?(https?:)?//|<link\b[^>]*\bhref=["']?(https?:)?//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(out)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    made = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return out


def test_every_page_is_there(site: Path) -> None:
    wanted = {p.relative_to(ROOT / "docs").with_suffix(".html") for p in (ROOT / "docs").rglob("*.md")}
    wanted |= {Path(name) for name in ("index.html", "contributing.html", "changelog.html")}
    assert not [page for page in wanted if not (site / page).is_file()]


def test_nothing_is_loaded_from_the_network(site: Path) -> None:
    for page in site.rglob("*.html"):
        assert not LOADED.search(page.read_text(encoding="utf-8")), page.name


def test_the_search_knows_pages_and_names(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    for word in ("bandstop.engine.pruner.Pruner", "start-gestures.html", "Glossary"):
        assert word in index


def test_doctests_are_examples_not_quotations(site: Path) -> None:
    page = (site / "reference" / "bandstop.html").read_text(encoding="utf-8")
    assert '<span class="gp">' in page and "<blockquote>" not in page
