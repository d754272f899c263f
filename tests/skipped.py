"""The last lines of a run of the tests: what was skipped and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable

import pytest

__all__ = ["pytest_sessionfinish", "skipped_lines"]


def skipped_lines(skipped: Iterable[tuple[str, str]]) -> list[str]:
    """A heading and one line per reason, from pairs of a test's name and its reason.

    >>> skipped_lines([])
    ['nothing was skipped']
    >>> skipped_lines([("a.py::one", "no clang"), ("a.py::two", "no clang"), ("b.py", "no ray")])
    ['skipped: 3', '  2 in a.py: no clang', '  1 in b.py: no ray']
    """
    places: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, reason in skipped:
        places[name.split("::")[0], reason].add(name)
    if not places:
        return ["nothing was skipped"]
    rows = [f"  {len(names)} in {file}: {reason}" for (file, reason), names in sorted(places.items())]
    return [f"skipped: {sum(map(len, places.values()))}", *rows]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None]:
    """Write the list after everything that pytest itself writes; a worker of xdist has no terminal."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or session.config.option.collectonly or hasattr(session.config, "workerinput"):
        return
    reports = reporter.stats.get("skipped", [])
    reporter.ensure_newline()
    for line in skipped_lines((report.nodeid, _reason(report)) for report in reports):
        reporter.write_line(line)


def _reason(report: pytest.CollectReport | pytest.TestReport) -> str:
    where = report.longrepr
    return where[2].removeprefix("Skipped: ") if isinstance(where, tuple) else str(where)
