"""The README's code is run as it stands."""

import re
from pathlib import Path

import torch
from torch import nn

README = Path(__file__).parents[1] / "README.md"


def test_the_first_code_block_does_what_it_says() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 16
    y = torch.tensor(digits.target)
    torch.manual_seed(0)
    order = torch.randperm(len(x))
    train, test = order[:1400], order[1400:]
    batches = [(x[i], y[i]) for _ in range(60) for i in train[torch.randperm(1400)].split(100)]
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[:1]
    scope: dict[str, object] = {"batches": batches}
    exec(compile(code, str(README), "exec"), scope)
    model = scope["model"]
    assert isinstance(model, nn.Sequential)
    kept = sum(int(p.count_nonzero()) for p in model.parameters() if p.ndim == 2)
    total = sum(p.numel() for p in model.parameters() if p.ndim == 2)
    assert re.search(rf"{kept:,} of {total:,} connections", code), (kept, total)
    accuracy = (model(x[test]).argmax(1) == y[test]).float().mean()
    assert accuracy > 0.9, f"98 % pruned digits: {accuracy:.1%}"


def test_every_link_leads_somewhere() -> None:
    for page in [README, *README.parent.glob("*.md"), *(README.parent / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
            if not link.startswith("http"):
                assert (page.parent / link).exists(), f"{page.name}: {link}"
