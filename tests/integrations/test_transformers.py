"""The Trainer callback trains a small BERT and a small GPT-2 (tied embeddings) from random weights,
without downloads.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bandstop import BandstopError, Pruner, Recipe
from bandstop.engine.trace import kept
from bandstop.method.schedules import Constant

transformers = pytest.importorskip("transformers")
from bandstop.integrations.transformers import PruningCallback  # noqa: E402

KL = Recipe(kl=Constant(2.0))


def bert() -> nn.Module:
    torch.manual_seed(0)
    sizes = {"vocab_size": 20, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = transformers.BertConfig(
        **sizes, intermediate_size=32, max_position_embeddings=12, hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0, num_labels=2,
    )  # fmt: skip
    return transformers.BertForSequenceClassification(config)


def gpt2() -> nn.Module:
    torch.manual_seed(0)
    sizes = {"vocab_size": 24, "n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 12}
    config = transformers.GPT2Config(**sizes, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)
    return transformers.GPT2LMHeadModel(config)


class Sequences(torch.utils.data.Dataset[dict[str, torch.Tensor]]):
    """Does the first token come again?"""

    def __init__(self, language: bool = False) -> None:
        draw = torch.Generator().manual_seed(3)
        self.tokens = torch.randint(20, (48, 8), generator=draw)
        self.language = language

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, place: int) -> dict[str, torch.Tensor]:
        row = self.tokens[place]
        again = (row[1:] == row[0]).any().long()
        return {"input_ids": row, "labels": row if self.language else again}


def arguments(folder: Path, **more: Any) -> Any:
    options = {"num_train_epochs": 4, "per_device_train_batch_size": 8, "learning_rate": 3e-3, **more}
    quiet = {
        "report_to": [],
        "save_strategy": "no",
        "logging_steps": 5,
        "disable_tqdm": True,
        "use_cpu": True,
    }
    return transformers.TrainingArguments(output_dir=str(folder), **{**quiet, **options})


def trained(
    model: nn.Module, args: Any, data: Sequences, resume: str | None = None, recipe: Recipe | None = KL
) -> Any:
    callback = PruningCallback(model, 0.9, recipe=recipe)
    trainer = transformers.Trainer(
        model, args, train_dataset=data, callbacks=[callback], optimizers=(callback.optimiser(args), None)
    )
    trainer.train(resume_from_checkpoint=resume)
    return trainer


def asked(model: nn.Module) -> int:
    padding = 16 if hasattr(model, "bert") else 0  # BERT's padding row stays zero and is no connection
    return round(0.1 * (sum(p.numel() for p in model.parameters() if p.ndim >= 2) - padding))


def same(a: nn.Module, b: nn.Module) -> bool:
    left, right = dict(a.named_parameters()), dict(b.named_parameters())
    return left.keys() == right.keys() and all(torch.allclose(left[n], right[n], atol=1e-5) for n in left)


@pytest.mark.parametrize("parts", [1, 3])
def test_penalty_enters_once_a_step(tmp_path: Path, parts: int) -> None:
    args = arguments(
        tmp_path,
        gradient_accumulation_steps=parts,
        max_steps=6,
        lr_scheduler_type="constant",
        max_grad_norm=0.7,
    )
    model = bert()
    order: list[torch.Tensor] = []
    model.register_forward_pre_hook(
        lambda _, __, kwargs: order.append(kwargs["input_ids"].clone()), with_kwargs=True
    )
    trainer = trained(model, args, data := Sequences())
    # A model that takes loss arguments is trusted to divide by the number of items itself;
    # this one takes the mean of a part.
    share = 1 if trainer.model_accepts_loss_kwargs else 1 / parts
    assert sum(kept(model).values()) == asked(model)
    rows = {tuple(data[i]["input_ids"].tolist()): data[i]["labels"] for i in range(len(data))}
    other = bert()  # the same batches in a plain loop
    pruner = Pruner(other, 0.9, steps=6, recipe=KL)
    optimiser = torch.optim.AdamW(pruner.parameter_groups(lr=3e-3), betas=(0.9, 0.999), eps=1e-8)
    for step in range(6):
        loss = pruner.penalty()
        for tokens in order[step * parts : (step + 1) * parts]:
            labels = torch.stack([rows[tuple(row.tolist())] for row in tokens])
            loss = loss + other(input_ids=tokens, labels=labels).loss * share
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(other.parameters(), 0.7)
        optimiser.step()
        pruner.step()
    assert same(model, pruner.finalize())


@pytest.mark.parametrize("stop", [8, 22])  # of 24: before and after the mask is fixed
def test_resumes_in_mid_schedule_with_tied_embeddings(tmp_path: Path, stop: int) -> None:
    straight = gpt2()
    trained(
        straight, arguments(tmp_path / "a", save_strategy="steps", save_steps=stop), Sequences(language=True)
    )
    resumed = gpt2()
    trainer = trained(
        resumed,
        arguments(tmp_path / "b"),
        Sequences(language=True),
        str(tmp_path / "a" / f"checkpoint-{stop}"),
    )
    assert sum(kept(resumed).values()) == asked(resumed)
    assert same(straight, resumed)
    assert resumed.lm_head.weight is resumed.transformer.wte.weight
    trainer.save_model(str(tmp_path / "plain"))
    loaded = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "plain")
    assert same(loaded, resumed)


def test_refuses_what_would_miss_the_budget(tmp_path: Path) -> None:
    args = arguments(tmp_path, load_best_model_at_end=True, eval_strategy="steps", save_strategy="steps")
    model = bert()
    callback = PruningCallback(model, 0.9)
    trainer = transformers.Trainer(
        model, args, train_dataset=Sequences(), eval_dataset=Sequences(), callbacks=[callback]
    )
    with pytest.raises(BandstopError, match="load_best_model_at_end=False"):
        trainer.train()
