"""Training of c2f systems on an annotated corpus, as published (Joshi et al. 2019), and going on after a kill.

Every step draws its numbers from the seed and its own number. So a run that was killed and goes on from its last
state makes the weights that an uninterrupted run makes, bit for bit where the library's sums are (one thread).
"""

import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems import metrics
from scripts.core.coreference_systems.c2f.model import C2F
from scripts.core.coreference_systems.c2f.outcomes import compute_loss
from scripts.core.coreference_systems.c2f.resolve import find_clusters
from scripts.core.errors import UserError
from scripts.core.models.weights import copy_tensors

if TYPE_CHECKING:
    from scripts.core.coreference_systems.c2f.windows import Splitter
    from scripts.core.coreference_systems.documents import AnnotatedDocument

# Of AdamW. Only the encoder's weights decay, but for biases and norms, and only its learning rate warms up.
WEIGHT_DECAY, EPSILON, WARM_UP_SHARE = 0.01, 1e-6, 0.1
# Largest norm of the gradient, of the encoder and of the rest each.
CLIP = 1.0
SAVE_EVERY = 200
"""Steps between two states; one is written after each epoch too."""
SAVED = ("digest", "step", "epoch", "done", "history", "best", "loss")
"""What of a run its state holds besides weights and optimiser."""


@dataclass(frozen=True)
class Settings:
    """How a system is trained.

    Attributes:
        encoder_learning_rate, task_learning_rate: Of the encoder and of everything on top of it
            (``bert_learning_rate``, ``task_learning_rate``).
        max_training_segments: Each epoch sees this many segments on end of each document (``max_training_sentences``),
            drawn at random.
    """

    epochs: int
    encoder_learning_rate: float
    task_learning_rate: float
    max_training_segments: int
    seed: int = 0


@dataclass(frozen=True)
class Piece:
    """A part of a training document that a step reads: words from ``start`` to ``end``, half open."""

    document: int
    start: int
    end: int


def plan_epochs(
    documents: "Sequence[AnnotatedDocument]",
    settings: Settings,
    segments: "Callable[[AnnotatedDocument], Sequence[tuple[int, int]]]",
) -> list[list[Piece]]:
    """Return which parts of the documents each epoch reads, in order.

    Args:
        segments: Gives a document's segments as half-open ranges of words.
    """
    epochs = []
    for epoch in range(settings.epochs):
        draw = random.Random(f"plan {settings.seed} {epoch}")
        pieces = []
        for number, document in enumerate(documents):
            ranges = segments(document)
            first = draw.randrange(max(1, len(ranges) - settings.max_training_segments + 1))
            chosen = ranges[first : first + settings.max_training_segments]
            pieces.append(Piece(number, chosen[0][0], chosen[-1][1]))
        draw.shuffle(pieces)
        epochs.append(pieces)
    return epochs


def cut_document(document: "AnnotatedDocument", start: int, end: int) -> "AnnotatedDocument":
    """Return the part of a document from a word to another, half open, with the mentions that lie within."""
    inner = [(max(first, start), min(last, end)) for first, last in document.sentences]
    clusters_within = [
        tuple((first - start, last - start) for first, last in cluster if start <= first and last < end)
        for cluster in document.clusters
    ]
    return replace(
        document,
        words=document.words[start:end],
        sentences=tuple((first - start, last - start) for first, last in inner if first < last),
        clusters=tuple(cluster for cluster in clusters_within if cluster),
        speakers=document.speakers and document.speakers[start:end],
        tags=document.tags and document.tags[start:end],
    )


def rate_factor(step: int, steps: int, warm_up_share: float) -> float:
    """Return what the learning rates are multiplied with in a step, counted from 0: a rise, then a fall to 0."""
    warm_up = max(1, round(warm_up_share * steps))
    return min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up), 1.0)


def score_model(
    model: C2F, splitter: "Splitter", documents: "Sequence[AnnotatedDocument]", device: torch.device | str
) -> dict[str, float]:
    """Return what :func:`scripts.core.coreference_systems.metrics.score_clusters` says of a model's clusters."""
    predicted = find_clusters(model, splitter, documents, device)
    return metrics.score_clusters([document.clusters for document in documents], predicted)


def group_parameters(variables: Mapping[str, torch.nn.Parameter], settings: Settings) -> list[dict[str, Any]]:
    """Return the optimiser's groups of parameters, with their weight decay, full learning rate and warm-up."""
    encoder, undecayed, task = [], [], []
    for name, value in variables.items():
        if not name.startswith("encoder."):
            task.append(value)
        elif name.endswith(".bias") or "LayerNorm" in name:
            undecayed.append(value)
        else:
            encoder.append(value)
    rates = {"full_rate": settings.encoder_learning_rate, "warm_up_share": WARM_UP_SHARE}
    return [
        {"params": encoder, "weight_decay": WEIGHT_DECAY, **rates},
        {"params": undecayed, "weight_decay": 0.0, **rates},
        {"params": task, "weight_decay": 0.0, "full_rate": settings.task_learning_rate, "warm_up_share": 0.0},
    ]


class Training:
    """A training run.

    Args:
        model: New, made under ``torch.manual_seed(settings.seed)``.
        documents, development: The epoch with the highest CoNLL F1 without singletons on ``development`` is chosen, the
            earlier of equal ones.
        state: File from which a killed run goes on and to which the run's state is written; removed by the caller.
        report: Called with a text after each epoch, and now and then.

    Attributes:
        history: For each epoch: ``epoch``, from 1, ``loss`` of a document on average, and, as ``development``, the
            scores.

    Raises:
        UserError: If there are no documents.
    """

    def __init__(
        self,
        model: C2F,
        splitter: "Splitter",
        documents: "Sequence[AnnotatedDocument]",
        development: "Sequence[AnnotatedDocument]",
        settings: Settings,
        *,
        device: str,
        state: str | Path,
        report: Callable[[str], None],
    ):
        if not documents:
            raise UserError("there are no documents to train on; name some")
        self.model, self.splitter, self.settings = model.to(device), splitter, settings
        self.documents, self.development, self.device = documents, development, torch.device(device)
        self.path, self.report = Path(state), report
        self.epochs = plan_epochs(documents, settings, splitter.segments)
        self.steps = len(documents) * settings.epochs
        self.variables = dict(model.named_parameters())
        groups = group_parameters(self.variables, settings)
        self.optimiser = torch.optim.AdamW(groups, eps=EPSILON, lr=settings.task_learning_rate)
        # All that decides a run, so that a state is never continued by another one.
        decisive: list[Any] = [asdict(settings), asdict(model.configuration)]
        decisive += [[asdict(document) for document in group] for group in (documents, development)]
        self.digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        self.step, self.epoch, self.done, self.loss, self.history, self.best = 0, 0, 0, 0.0, [], None
        self.began, self.first_step = time.monotonic(), 0

    def run(self) -> None:
        """Train the model, and put the weights of the best epoch into it.

        Raises:
            UserError: If the state is damaged or another run's, or a loss is not finite.
        """
        self._resume()
        while self.epoch < len(self.epochs):
            self._run_epoch(self.epochs[self.epoch])
        assert self.best is not None, "there is an epoch, and each has a score"
        copy_tensors(self.variables, self.best["weights"], "the best epoch's weights")
        self.model.eval()

    def _run_epoch(self, pieces: list[Piece]) -> None:
        self.model.train()
        while self.done < len(pieces):
            self._take_step(pieces[self.done])
            self.done += 1
            self.step += 1
            if self.step % 50 == 0:
                left = (time.monotonic() - self.began) / (self.step - self.first_step) * (self.steps - self.step) / 60
                loss = self.loss / self.done
                self.report(f"step {self.step} of {self.steps}: loss {loss:.3f}, {left:.0f} minutes left")
            if self.step % SAVE_EVERY == 0 and self.done < len(pieces):
                self._save()
        self._end_epoch()

    def _take_step(self, piece: Piece) -> None:
        torch.manual_seed(self.settings.seed * 1_000_003 + self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = group["full_rate"] * rate_factor(self.step, self.steps, group["warm_up_share"])
        self.optimiser.zero_grad(set_to_none=True)
        document = cut_document(self.documents[piece.document], piece.start, piece.end)
        window = self.splitter.window(document).to(self.device)
        loss = compute_loss(self.model(window), window)
        loss.backward()
        norms = []
        for of_encoder in (True, False):
            parameters = [v for name, v in self.variables.items() if name.startswith("encoder.") == of_encoder]
            norms.append(torch.nn.utils.clip_grad_norm_(parameters, CLIP).item())
        # Scores that are no numbers give a loss of 0: no antecedent is valid.
        if not all(math.isfinite(number) for number in (loss.item(), *norms)):
            raise UserError(
                f"the loss of step {self.step + 1} (document '{document.name}') or its gradient is not finite; lower "
                "the learning rates"
            )
        self.loss += loss.item()
        self.optimiser.step()

    def _end_epoch(self) -> None:
        scores = score_model(self.model, self.splitter, self.development, self.device)
        entry = {"epoch": self.epoch + 1, "loss": self.loss / len(self.documents), "development": scores}
        if self.best is None or scores["conll"] > self.best["score"]:
            weights = {name: value.detach().cpu().clone() for name, value in self.variables.items()}
            self.best = {"score": scores["conll"], "weights": weights}
        self.history.append(entry)
        self.epoch, self.done, self.loss = self.epoch + 1, 0, 0.0
        self._save()
        self.report(f"epoch {self.epoch}: {json.dumps(entry)}")

    def _save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        values = {name: getattr(self, name) for name in SAVED}
        values["weights"] = {name: value.detach().cpu() for name, value in self.variables.items()}
        values["optimiser"] = self.optimiser.state_dict()
        temporary = self.path.with_name(f".{self.path.name}.new")
        torch.save(values, temporary)
        temporary.replace(self.path)

    def _resume(self) -> None:
        if not self.path.exists():
            return
        try:
            values = torch.load(self.path, map_location="cpu", weights_only=True)
        except Exception as error:  # what a damaged file raises has no common base class
            raise UserError(f"{self.path}: cannot be read ({type(error).__name__}); delete it") from error
        if values.get("digest") != self.digest:
            raise UserError(
                f"{self.path}: is the state of a run with other documents or settings; delete it to begin anew"
            )
        copy_tensors(self.variables, values["weights"], self.path)
        self.optimiser.load_state_dict(values["optimiser"])
        for name in SAVED:
            setattr(self, name, values[name])
        self.first_step = self.step
        self.report(f"going on after step {self.step} of {self.steps}")
