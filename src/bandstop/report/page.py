"""The report of a run: one HTML file that needs nothing else, made from the run's folder alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from bandstop.errors import MissingExtra
from bandstop.files import write_text
from bandstop.record.folder import REPORT, read_metrics
from bandstop.record.metrics import Metrics
from bandstop.report import tables, words
from bandstop.report.canvas import house_style, inline_svg
from bandstop.report.plot_adjacency import MOST, head_panel
from bandstop.report.plot_confusion import LARGEST_MATRIX, confusion_picture, short_name
from bandstop.report.plot_curves import curve_panels
from bandstop.report.plot_gate import find_gate, gate_panels, gate_shapes
from bandstop.report.plot_histogram import chosen_moments, histogram_panel, tallest
from bandstop.report.plot_hold import hold_panels
from bandstop.report.plot_layers import layers_picture
from bandstop.report.plot_reads import reads_panel
from bandstop.report.posture import flat_positions
from bandstop.report.runfolder import Run, read_run

try:
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup
except ImportError:
    raise MissingExtra("jinja2", extra="app") from None

__all__ = ["report_html", "write_report"]


def write_report(run: Path, *, compare: Sequence[Path] = ()) -> Path:
    """Write ``report.html`` into the run folder, whole or not at all, and give back its path.

    ``compare`` names other run folders to set beside this one in a table; only their metrics.json is read.
    """
    others = [(Path(other).resolve().name, read_metrics(Path(other))) for other in compare]
    page = Path(run) / REPORT
    write_text(page, report_html(read_run(Path(run)), others))
    return page


def report_html(run: Run, others: Sequence[tuple[str, Metrics]] = ()) -> str:
    """The page's text."""
    metrics = run.metrics
    everyone = [*others, (run.name, metrics)]
    dense = next((other for _, other in others if not other.pruned), None)
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    folder = files("bandstop.report")
    template = environment.from_string(folder.joinpath("page.html.j2").read_text(encoding="utf-8"))
    with house_style():
        pictures = _pictures(run)
    return template.render(
        style=Markup(folder.joinpath("page.css").read_text(encoding="utf-8")),
        name=run.name,
        run=metrics,
        headline=words.headline(metrics, dense),
        method=words.method_sentence(metrics),
        counted=words.counting_sentence(metrics),
        tiles=tables.key_figures(metrics),
        compared=[name for name, _ in everyone] if others else [],
        comparison=tables.comparison_rows([other for _, other in everyone]) if others else [],
        layers=tables.layer_rows(metrics.layers),
        provenance=tables.provenance_rows(metrics),
        pairs=[
            (
                short_name(true, 60),
                short_name(taken, 60),
                times,
                of,
                words.share(times, of),
                words.recordings(metrics, true, taken),
            )
            for true, taken, times, of in words.confused_pairs(metrics)
        ],
        config=run.config,
        most=MOST,
        least=max(330, 17 * len(metrics.class_names) + 90),
        **pictures,
    )


def _pictures(run: Run) -> dict[str, object]:
    """Every picture the folder has the material for, as markup; the others are empty."""
    metrics, heads = run.metrics, run.weights.adjacency
    found_gate = find_gate(run.config) if metrics.pruned else None
    return {
        "curves": [
            Markup(inline_svg(panel, title, f"{title} by epoch")) for title, panel in curve_panels(run.log)
        ],
        "histograms": [Markup(svg) for svg in _histograms(run)],
        "holds": [
            Markup(inline_svg(panel, f"hold {number}", title))
            for number, (title, panel) in enumerate(hold_panels(run.log) if metrics.pruned else [])
        ],
        "by_layer": any(len(set(h.layer_thresholds)) > 1 for e in run.log if (h := e.histogram)),
        "gate_name": found_gate[0] if found_gate else "",
        "gates": [Markup(svg) for svg in _gates(run)] if found_gate else [],
        "bars": Markup(
            inline_svg(layers_picture(metrics.layers), "layers", "Kept and live connections by layer")
        )
        if metrics.layers
        else "",
        "heads": [Markup(svg) for svg in _heads(run)],
        "reads": [Markup(svg) for svg in _reads(run)],
        "crowded": heads is not None and any(np.count_nonzero(head) > MOST for head in heads),
        "posed": run.weights.pose is not None,
        "confusion": Markup(
            inline_svg(
                confusion_picture(metrics.confusion, metrics.class_names), "confusion", "Confusion matrix"
            )
        )
        if 0 < len(metrics.class_names) <= LARGEST_MATRIX
        else "",
    }


def _histograms(run: Run) -> Iterator[str]:
    moments = chosen_moments(run.log)
    shown = [epoch.histogram for epoch in moments if epoch.histogram]
    if not shown:
        return
    top, reach = tallest(shown), max(histogram.reach for histogram in shown)
    for epoch in moments:
        label = f"Latent weights and prior at epoch {epoch.epoch}"
        yield inline_svg(histogram_panel(epoch, top=top, reach=reach), f"histogram {epoch.epoch}", label)


def _gates(run: Run) -> Iterator[str]:
    found, moments = find_gate(run.config), gate_shapes(run.log)
    if found is None or not moments:
        return
    for number, panel in enumerate(gate_panels(found[1], moments)):
        yield inline_svg(panel, f"gate {number}", ("The gate ψ", "The effective weight")[number])


def _heads(run: Run) -> Iterator[str]:
    heads = run.weights.adjacency
    if heads is None or not heads.size:
        return
    positions = flat_positions(run.weights, heads.shape[1])
    largest = float(np.abs(heads).max()) or 1.0
    for number, head in enumerate(heads, start=1):
        panel = head_panel(head, positions, run.weights.edges, number=number, largest=largest)
        yield inline_svg(panel, f"head {number}", f"Adjacency of head {number} on the skeleton")


def _reads(run: Run) -> Iterator[str]:
    reads = run.weights.reads
    most = max((int(counts.max()) for _, counts in reads), default=0)
    for part, counts in reads:
        positions = flat_positions(run.weights, len(counts))
        panel = reads_panel(part, counts, positions, run.weights.edges, most=most)
        yield inline_svg(panel, f"reads {part}", f"How many connections read the {part} of each joint")
