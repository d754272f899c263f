"""The README's code is run as it stands, and its tables are those of the result files."""

import json
import re
from typing import Any

import torch
from torch import nn

from tests.docs.scripts import ROOT, script

README = ROOT / "README.md"
TEXT = README.read_text(encoding="utf-8")
(CODE,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)[:1]


def run(code: str, scope: dict[str, Any]) -> nn.Sequential:
    exec(compile(code, str(README), "exec"), scope)
    model = scope["model"]
    assert isinstance(model, nn.Sequential)
    kept = sum(int(p.count_nonzero()) for p in model.parameters() if p.ndim == 2)
    total = sum(p.numel() for p in model.parameters() if p.ndim == 2)
    assert re.search(rf"{kept:,} of {total:,} weights", code), (kept, total)
    return model


def test_the_first_code_block_runs_as_printed() -> None:
    torch.manual_seed(0)
    scope: dict[str, Any] = {}
    model = run(CODE, scope)
    assert scope["epochs"] > 1
    accuracy = (model(scope["x"]).argmax(1) == scope["y"]).float().mean()
    assert accuracy > 0.9, f"98 % pruned: {accuracy:.1%}"


def test_the_first_code_block_does_what_it_says_on_real_data() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16
    y = torch.tensor(digits.target)
    torch.manual_seed(0)
    order = torch.randperm(len(x))
    train, test = order[:1400], order[1400:]
    imports, made_up, rest = re.split(r"(?=# Made-up data)|(?=loader =)", CODE)
    assert made_up.startswith("# Made-up data")
    longer = rest.replace("epochs = 20", "epochs = 60")
    assert longer != rest
    model = run(imports + longer, {"x": x[train], "y": y[train]})
    accuracy = (model(x[test]).argmax(1) == y[test]).float().mean()
    assert accuracy > 0.9, f"98 % pruned digits: {accuracy:.1%}"


def test_the_table_of_results_is_current() -> None:
    assert script("results_page").readme() == TEXT, "run benchmarks/results_page.py"


def test_the_table_of_speed_is_current() -> None:
    made = script("deploy_table")
    found = json.loads((ROOT / "benchmarks" / "results" / "deploy.json").read_text(encoding="utf-8"))
    between = TEXT.split(made.START)[1].split(made.END)[0]
    assert between.strip() == made.readme_table(found), "run benchmarks/deploy.py"


def test_every_link_leads_somewhere() -> None:
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_nothing_of_this_machine_stands_in_a_page() -> None:
    paths = re.compile(r"(?<![\w.~/])/(?:home|root|work|tmp|usr|opt|mnt)/\w")
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        assert not paths.search(page.read_text(encoding="utf-8")), page.name
