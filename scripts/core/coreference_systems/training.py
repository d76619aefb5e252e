"""Training of c2f systems: the steps, the choice of an epoch, and going on after a kill.

Every step draws its numbers from the seed and its own number. So a run that was killed and goes on from its last
state makes the weights that an uninterrupted run makes, bit for bit where the library's sums are (one thread).
"""

import hashlib
import json
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from scripts.core.coreference_systems import metrics
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.encoders import simplify_encoder
from scripts.core.coreference_systems.c2f.model import C2F
from scripts.core.coreference_systems.c2f.outcomes import compute_losses
from scripts.core.coreference_systems.c2f.resolve import autocast, find_clusters
from scripts.core.coreference_systems.rewriting import Names, rewrite_document
from scripts.core.coreference_systems.training_plan import Piece, Settings, cut_document, plan_epochs, rate_factor
from scripts.core.errors import UserError
from scripts.core.models.weights import copy_tensors

if TYPE_CHECKING:
    from scripts.core.coreference_systems.c2f.windows import Splitter
    from scripts.core.coreference_systems.documents import AnnotatedDocument

SAVE_EVERY = 200
"""Steps between two states; one is written after each epoch too."""
SAVED = ("digest", "step", "epoch", "done", "history", "best", "sums")
"""What of a run its state holds besides weights and optimiser."""


def score_model(
    model: C2F,
    splitter: "Splitter",
    documents: "Sequence[AnnotatedDocument]",
    device: torch.device | str,
    precision: str,
) -> dict[str, float]:
    """Return what :func:`scripts.core.coreference_systems.metrics.score_clusters` says of a model's clusters."""
    predicted = find_clusters(model, splitter, documents, device, precision)
    return metrics.score_clusters([document.clusters for document in documents], predicted)


def _groups(variables: Mapping[str, torch.nn.Parameter], settings: Settings) -> list[dict[str, Any]]:
    """Return the optimiser's groups of parameters, with their weight decay, full learning rate and warm-up."""
    encoder, undecayed, task = [], [], []
    for name, value in variables.items():
        if not name.startswith("encoder."):
            task.append(value)
        elif not settings.decay_norms and (name.endswith(".bias") or "LayerNorm" in name):
            undecayed.append(value)
        else:
            encoder.append(value)
    rates = (settings.encoder_learning_rate, settings.warm_up_share)
    groups = [
        (encoder, settings.weight_decay, *rates),
        (undecayed, 0.0, *rates),
        (task, settings.task_weight_decay, settings.task_learning_rate, settings.task_warm_up_share),
    ]
    keys = ("params", "weight_decay", "full_rate", "warm_up_share")
    return [dict[str, Any](zip(keys, group, strict=True)) for group in groups if group[0]]


class Training:
    """A training run.

    Args:
        model: New, made under ``torch.manual_seed(settings.seed)``.
        documents, development: The epoch with the highest CoNLL F1 without singletons on ``development`` is chosen, the
            earlier of equal ones.
        names: Needed if windows are rewritten.
        state: File from which a killed run goes on and to which the run's state is written; removed by the caller.
        report: Called with a dict after each epoch, and with a text now and then.

    Attributes:
        history: For each epoch: ``epoch``, from 1, ``seconds``, ``loss`` for each window, ``recall`` of gold mentions
            among the spans that were kept, and, as ``development``, the scores.

    Raises:
        UserError: If there are no documents, or names are needed and missing.
    """

    def __init__(
        self,
        model: C2F,
        splitter: "Splitter",
        documents: "Sequence[AnnotatedDocument]",
        development: "Sequence[AnnotatedDocument]",
        settings: Settings,
        *,
        names: Names | None,
        device: str,
        state: str | Path,
        report: Callable,
    ):
        if not documents:
            raise UserError("there are no documents to train on; name some")
        if names is None and any(vars(settings.rewriting).values()):
            raise UserError("windows are to be rewritten and there is no list of names; name one")
        self.model, self.splitter, self.settings, self.names = model, splitter, settings, names
        self.documents, self.development, self.device = documents, development, torch.device(device)
        self.path, self.report = Path(state), report
        if model.configuration.shared_dropout:
            simplify_encoder(model.encoder, settings.encoder_dropout)
        model.to(self.device)
        self.epochs = plan_epochs(documents, settings, splitter.segments)
        self.steps = sum(math.ceil(len(pieces) / settings.accumulation) for pieces in self.epochs)
        self.variables = checkpoints.trained_parameters(model)
        self.optimiser = torch.optim.AdamW(
            _groups(self.variables, settings),
            betas=(0.9, settings.second_moment_decay),
            eps=settings.epsilon,
            lr=settings.task_learning_rate,
        )
        # All that decides a run, so that a state is never continued by another one.
        decisive: list[Any] = [asdict(settings), asdict(model.configuration), asdict(names) if names else None]
        decisive += [[asdict(document) for document in group] for group in (documents, development)]
        self.digest = hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()
        self.step, self.epoch, self.done, self.history, self.best = 0, 0, 0, [], None
        self.sums = self._zero()
        self.began, self.first_step = time.monotonic(), 0

    @staticmethod
    def _zero() -> dict[str, Any]:
        return {"loss": 0.0, "seconds": 0.0, "kept": 0, "gold": 0, "words": 0}

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
        size = self.settings.accumulation
        self.model.train()
        while self.done < len(pieces):
            started = time.monotonic()
            self._take_step(pieces[self.done : self.done + size])
            self.done = min(len(pieces), self.done + size)
            self.step += 1
            self.sums["seconds"] += time.monotonic() - started
            if self.step % 50 == 0:
                self._report_progress()
            if self.step % SAVE_EVERY == 0 and self.done < len(pieces):
                self._save()
        self._end_epoch(len(pieces))

    def _take_step(self, pieces: list[Piece]) -> None:
        settings = self.settings
        torch.manual_seed(settings.seed * 1_000_003 + self.step)
        for group in self.optimiser.param_groups:
            group["lr"] = group["full_rate"] * rate_factor(self.step, self.steps, group["warm_up_share"])
        self.optimiser.zero_grad(set_to_none=True)
        for offset, piece in enumerate(pieces):
            document = cut_document(self.documents[piece.document], piece.start, piece.end)
            draw = random.Random(f"rewriting {settings.seed} {self.epoch} {self.done + offset}")
            if self.names:
                document = rewrite_document(document, self.names, settings.rewriting, draw)
            window = self.splitter.window(document).to(self.device)
            with autocast(self.device, settings.precision):
                scores = self.model(window)
            antecedents, mentions = compute_losses(scores, window)
            loss = antecedents + settings.mention_loss * mentions
            if settings.loss_per_word:
                loss = loss / (settings.loss_per_word * len(document.words))
            if not torch.isfinite(loss):
                raise UserError(
                    f"the loss of step {self.step + 1} (document '{document.name}') is not finite; lower the learning "
                    "rates"
                )
            (loss / len(pieces)).backward()
            kept = set(zip(scores.starts.tolist(), scores.ends.tolist(), strict=True))
            self.sums["loss"] += loss.item()
            self.sums["gold"] += len(window.clusters)
            self.sums["kept"] += len(kept & window.clusters.keys())
            self.sums["words"] += len(document.words)
        for of_encoder in (True, False):
            parameters = [v for name, v in self.variables.items() if name.startswith("encoder.") == of_encoder]
            torch.nn.utils.clip_grad_norm_(parameters, settings.clip)
        self.optimiser.step()

    def _end_epoch(self, windows: int) -> None:
        scores = score_model(self.model, self.splitter, self.development, self.device, self.settings.precision)
        entry = {
            "epoch": self.epoch + 1,
            "seconds": round(self.sums["seconds"], 1),
            "words_per_second": round(self.sums["words"] / max(self.sums["seconds"], 1e-9)),
            "loss": self.sums["loss"] / windows,
            "recall": self.sums["kept"] / max(1, self.sums["gold"]),
            "development": scores,
        }
        if self.best is None or scores["conll"] > self.best["score"]:
            weights = {name: value.detach().cpu().clone() for name, value in self.variables.items()}
            self.best = {"epoch": self.epoch + 1, "score": scores["conll"], "weights": weights}
        self.history.append(entry)
        self.epoch, self.done, self.sums = self.epoch + 1, 0, self._zero()
        self._save()
        self.report(entry)

    def _report_progress(self) -> None:
        made = self.step - self.first_step
        left = (time.monotonic() - self.began) / made * (self.steps - self.step) / 60
        loss = self.sums["loss"] / max(1, self.done)
        self.report(f"step {self.step} of {self.steps}: loss {loss:.3f} a window, {left:.0f} minutes left")

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
