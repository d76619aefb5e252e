"""A masked-language-model head for an encoder that ships without one.

``all-MiniLM-L6-v2`` is a BERT encoder trained for sentence embeddings; its package holds no output layer. A head,
low-rank updates of the encoder's linear layers (LoRA; Hu et al. 2022) and its layer norms are trained on
public-domain books.
Only what differs from the package is kept: the delta. Merging puts the delta into a plain ``BertForMaskedLM``.
"""

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

from scripts.core.errors import UserError

if TYPE_CHECKING:
    from transformers import BertForMaskedLM

MASK_SHARE = 0.15
ROW = 64
LORA_SCALE = 2.0


class LowRank(nn.Module):
    """A frozen linear layer plus a trainable update of low rank: ``y = W x + b + 2 up(down(x))``."""

    def __init__(self, base: nn.Linear, rank: int):
        super().__init__()
        self.base = base
        self.down = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.base(x) + LORA_SCALE * functional.linear(functional.linear(x, self.down), self.up)

    def merged(self) -> nn.Linear:
        """Return the plain linear layer with the update added to its weights."""
        with torch.no_grad():
            self.base.weight += LORA_SCALE * self.up @ self.down
        return self.base


def book_text(raw: str) -> str:
    """Return a book without Project Gutenberg's header, footer and notes, one paragraph a line.

    Typographic quotation marks become plain ones, as in the encoder's own training text.
    """
    text = raw.replace("\r", "")
    start = re.search(r"\*\*\* ?START OF TH(E|IS) PROJECT GUTENBERG[^\n]*\n", text)
    if start:
        text = text[start.end() :]
    end = re.search(r"\n[^\n]*(\*\*\* ?END OF TH(E|IS) PROJECT|End of (the )?Project Gutenberg)", text, re.IGNORECASE)
    if end:
        text = text[: end.start()]
    text = text.translate(str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'", "_": ""}))
    paragraphs = (" ".join(p.split()) for p in re.split(r"\n\s*\n", text))
    unwanted = ("gutenberg", "transcriber", "http", "e-text")
    return "\n".join(p for p in paragraphs if len(p) > 40 and not any(word in p.lower() for word in unwanted))


def rows(text: str, tokenizer: Any, characters: int) -> torch.Tensor:
    """Cut the middle of a text into rows of tokens.

    Args:
        text: As returned by :func:`book_text`.
        tokenizer: A ``transformers.PreTrainedTokenizerBase``.
        characters: At most this many, from the middle of the text.

    Returns:
        Shape ``(rows, 64)``, int32: classification token, 62 tokens of running text, separator.
    """
    first = max(0, (len(text) - characters) // 2)
    pieces = tokenizer(text[first : first + characters].split("\n"), add_special_tokens=False)["input_ids"]
    ids = [token for piece in pieces for token in piece]
    count = len(ids) // (ROW - 2)
    body = torch.tensor(ids[: count * (ROW - 2)], dtype=torch.int32).view(count, ROW - 2)
    edge = torch.ones(count, 1, dtype=torch.int32)
    return torch.cat([edge * tokenizer.cls_token_id, body, edge * tokenizer.sep_token_id], dim=1)


def add_head(model: "BertForMaskedLM", occurrences: torch.Tensor) -> None:
    """Initialise the head: an identity transform and, as output bias, the log frequencies of the tokens.

    Args:
        model: Its output layer is tied to the word embeddings and stays so.
        occurrences: Occurrences of each token in the training text, shape ``(vocabulary,)``.
    """
    head = model.cls.predictions
    with torch.no_grad():
        head.transform.dense.weight.copy_(torch.eye(head.transform.dense.in_features))
        head.transform.dense.bias.zero_()
        head.transform.LayerNorm.weight.fill_(1)
        head.transform.LayerNorm.bias.zero_()
        smoothed = occurrences.float() + 0.5
        head.bias.copy_((smoothed / smoothed.sum()).log() + math.log(len(smoothed)))
    head.decoder.bias = head.bias


def add_low_rank(model: "BertForMaskedLM", rank: int) -> None:
    """Replace every linear layer of the encoder by a :class:`LowRank` one."""
    for layer in model.bert.encoder.layer:
        for module in list(layer.modules()):
            for name, child in list(module.named_children()):
                if isinstance(child, nn.Linear):
                    setattr(module, name, LowRank(child, rank))


def merge_low_rank(model: nn.Module) -> None:
    """Put every low-rank update into its layer's weights; the inverse of :func:`add_low_rank` in structure."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, LowRank):
                setattr(module, name, child.merged())


def trained_names(model: nn.Module) -> list[str]:
    """Freeze what is not trained and return the names of the parameters that are: head, updates, layer norms."""
    names = []
    for name, parameter in model.named_parameters():
        head = name.startswith("cls.") and "decoder" not in name
        parameter.requires_grad_(head or name.endswith((".down", ".up")) or "LayerNorm" in name)
        if parameter.requires_grad:
            names.append(name)
    return names


def mask(batch: torch.Tensor, generator: torch.Generator, mask_token_id: int) -> tuple[torch.Tensor, ...]:
    """Mask 15 % of the tokens of each row but the first and the last, always with the mask token.

    Returns:
        The masked batch, shape as ``batch``, and a boolean tensor of the same shape that is true where it was masked.
    """
    chosen = torch.rand(batch.shape, generator=generator) < MASK_SHARE
    chosen[:, 0] = chosen[:, -1] = False
    return batch.masked_fill(chosen, mask_token_id), chosen


def masked_logits(model: "BertForMaskedLM", batch: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    """Return the logits at the chosen positions, shape ``(chosen.sum(), vocabulary)``; nothing else is computed."""
    return model.cls(model.bert(batch).last_hidden_state[chosen])


def train(
    model: "BertForMaskedLM",
    data: torch.Tensor,
    steps: int,
    seed: int,
    *,
    batch_size: int,
    learning_rate: float,
    head_learning_rate: float,
    warm_up: int,
    mask_token_id: int,
    report: Callable,
) -> None:
    """Train the head, the low-rank updates and the layer norms.

    Args:
        model: After :func:`add_head` and :func:`add_low_rank`.
        data: Rows of tokens, shape ``(rows, 64)``.
        steps, seed, batch_size, warm_up: Linear warm-up over ``warm_up`` steps, then linear decay to zero at ``steps``.
        learning_rate, head_learning_rate: Of the encoder's part and of the head.
        report: Called as ``report(step, loss)`` after each step; ``loss`` in nats per masked token.
    """
    names = set(trained_names(model))
    groups = [
        {"params": [p for n, p in model.named_parameters() if n in names and n.startswith("cls.")]},
        {"params": [p for n, p in model.named_parameters() if n in names and not n.startswith("cls.")]},
    ]
    optimiser = torch.optim.AdamW(groups, betas=(0.9, 0.98), weight_decay=0.01)
    generator = torch.Generator().manual_seed(seed)
    model.train()
    for step in range(steps):
        factor = min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up))
        for group, rate in zip(optimiser.param_groups, (head_learning_rate, learning_rate), strict=True):
            group["lr"] = rate * factor
        batch = data[torch.randint(len(data), (batch_size,), generator=generator)].long()
        masked, chosen = mask(batch, generator, mask_token_id)
        loss = functional.cross_entropy(masked_logits(model, masked, chosen), batch[chosen])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([p for group in groups for p in group["params"]], 1.0)
        optimiser.step()
        report(step + 1, loss.item())
    model.eval()


@torch.no_grad()
def evaluate(model: "BertForMaskedLM", data: torch.Tensor, seed: int, mask_token_id: int, limit: int = 160) -> dict:
    """Fill masks in held-out text.

    Args:
        data: Rows of tokens; ``limit`` of them are drawn.
        seed: Of the draw and the masks.

    Returns:
        ``masks`` (number), ``top1`` (share filled right), ``perplexity`` (exp of the mean negative log-likelihood).
    """
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    drawn = data[torch.randperm(len(data), generator=generator)[:limit]].long()
    right = loss = total = 0
    for batch in drawn.split(32):
        masked, chosen = mask(batch, generator, mask_token_id)
        logits, truth = masked_logits(model, masked, chosen), batch[chosen]
        loss += functional.cross_entropy(logits, truth, reduction="sum").item()
        right += (logits.argmax(-1) == truth).sum().item()
        total += len(truth)
    return {"masks": total, "top1": right / total, "perplexity": math.exp(loss / total)}


@torch.no_grad()
def evaluate_singly(
    model: "BertForMaskedLM", data: torch.Tensor, seed: int, mask_token_id: int, limit: int = 12
) -> dict:
    """Fill held-out text one mask at a time.

    Parameters and result as for :func:`evaluate`, every token but the first and the last of ``limit`` rows being
    masked once; ``perplexity`` is then the pseudo-perplexity (Salazar et al. 2020, section 2.2).
    """
    model.eval()
    generator = torch.Generator().manual_seed(seed)
    chosen = torch.eye(data.shape[1], dtype=torch.bool)[1:-1]
    right = loss = total = 0
    for row in data[torch.randperm(len(data), generator=generator)[:limit]].long():
        copies = row.expand(len(chosen), -1)
        logits, truth = masked_logits(model, copies.masked_fill(chosen, mask_token_id), chosen), row[1:-1]
        loss += functional.cross_entropy(logits, truth, reduction="sum").item()
        right += (logits.argmax(-1) == truth).sum().item()
        total += len(truth)
    return {"masks": total, "top1": right / total, "perplexity": math.exp(loss / total)}


def delta(model: nn.Module) -> dict[str, torch.Tensor]:
    """Return the trained tensors in float16, by name."""
    names = trained_names(model)
    state = model.state_dict()
    return {name: state[name].half().contiguous() for name in names}


def apply_delta(model: "BertForMaskedLM", tensors: dict) -> None:
    """Put a delta into a plain model and merge its low-rank updates.

    Args:
        model: The encoder as its package ships it, with an untrained head.
        tensors: As returned by :func:`delta`.

    Raises:
        UserError: If a tensor is missing, unknown or of another shape: the delta belongs to another encoder.
    """
    ranks = {len(value) for name, value in tensors.items() if name.endswith(".down")}
    if len(ranks) != 1:
        raise UserError("the delta holds no low-rank updates of one rank; restore config/weights from the repository")
    add_low_rank(model, ranks.pop())
    model.cls.predictions.decoder.bias = model.cls.predictions.bias
    expected = set(trained_names(model))
    state = model.state_dict()
    for name in sorted(expected ^ set(tensors)):
        what = "lacks" if name in expected else "has an unknown tensor"
        raise UserError(f"the delta {what} {name}; restore config/weights from the repository")
    for name, value in tensors.items():
        if value.shape != state[name].shape:
            raise UserError(
                f"the delta's {name} has shape {tuple(value.shape)}, the encoder's {tuple(state[name].shape)}; "
                "install the package version that config/models.yaml names"
            )
    with torch.no_grad():
        for name, value in tensors.items():
            state[name].copy_(value.float())
    merge_low_rank(model)
