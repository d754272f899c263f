"""docs/examples.md, made from benchmarks/results/examples/: `python examples/examples_page.py`."""

import json
from pathlib import Path
from statistics import mean, stdev

from example_runs import RESULTS

from bandstop.files import write_text

PAGE = Path(__file__).parents[1] / "docs" / "examples.md"
EXAMPLES = {
    "digits_mlp": "A multilayer perceptron on scikit-learn's digits (half for training, half for the test)",
    "digits_cnn": "A convolutional net on scikit-learn's digits",
    "accelerate_digits": "The same net with Accelerate: accumulated gradients, saved and loaded in between",
    "char_transformer": "A character-level transformer on text from a small grammar (next-letter accuracy)",
    "hands_lstm": "An LSTM on skeletons: the built-in hands",
    "graph_gcn": "A PyTorch Geometric GCN on a stochastic block model",
}
INTRODUCTION = """# Examples

Each example is one file of at most 80 lines to copy from. It needs no download and runs in minutes on one CPU
thread; `--short` takes seconds.

Settings were chosen with `--validation`, which tests on a part of the training set. The tables show accuracy
on the test set in per cent, mean ± standard deviation over seeds. Each was made by the command above it; the
figures are in `benchmarks/results/examples/`. (This page is made by `python examples/examples_page.py`.) All
were recorded with earlier default recipes, whose latents were free; but for the two digits networks
before gains made up for the lost variance.
"""


def page() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for name, title in EXAMPLES.items():
        parts.append(f"## {title}\n\n[`examples/{name}.py`](../examples/{name}.py)\n")
        file = RESULTS / f"{name}.json"
        if not file.is_file():
            parts.append(f"Not recorded yet: `python examples/{name}.py --record`.\n")
            continue
        found = json.loads(file.read_text())
        parts += [
            f"    {found['command']}\n",
            "| rate asked | weights kept | of | rate obtained | accuracy | seconds per run |",
        ]
        parts.append("|---:|---:|---:|---:|---:|---:|")
        for row in found["rows"]:
            values = row["accuracies"]
            spread = f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"
            obtained = 1 - row["kept"] / row["weights"]
            asked = f"{row['asked']:.0%}" if row["asked"] else "dense"
            cells = [
                asked,
                f"{row['kept']:,}",
                f"{row['weights']:,}",
                f"{obtained:.3%}",
                spread,
                row["seconds"],
            ]
            parts.append(f"| {' | '.join(map(str, cells))} |")
        parts.append("")
    return "\n".join(parts)


if __name__ == "__main__":
    write_text(PAGE, page())
