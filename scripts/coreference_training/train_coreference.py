"""Train a c2f coreference system as config/coreference_training.yaml says.

Goes on from the state of a run that was killed, with the same result; ``state`` is removed at the end. The weights are
those of the epoch with the best CoNLL F1 on the development documents; the test documents are scored once, after that.
"""

import json
import time
from pathlib import Path
from typing import Any

import torch

from scripts.core import files
from scripts.core.coreference_systems import documents, rewriting, training
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.configuration import Configuration
from scripts.core.coreference_systems.c2f.windows import Splitter
from scripts.core.errors import UserError
from scripts.core.models import hub, loading
from scripts.core.models.entries import ScoredModel, read_source
from scripts.core.workflow.job import log, run


def encoder_folder(name: str, source: dict[str, Any], fetched: str = "") -> Path:
    """Return the folder of an encoder: in a package, a path, or what was fetched from the Hub (a fetch record)."""
    return loading.locate_model(name, ScoredModel(source=read_source(source)), fetched=fetched or None).folder


def main(
    *,
    train: str,
    development: str,
    test: str,
    weights: str,
    name: str,
    encoder: dict,
    model: dict,
    training_settings: dict,
    state: str,
    names: str = "",
    fetched: str = "",
    device: str = "cpu",
    threads: int = 1,
) -> None:
    """Write a system's weights.

    Args:
        train, development, test: The annotated documents of each part (JSON Lines).
        weights: What to write: a delta (a file ending in .safetensors) or a folder with all weights.
        name: The system's name.
        encoder: Where the encoder is: ``package``, ``version`` and ``folder``; ``path``; or ``hub``.
        model, training_settings: What the system is made of and how it is trained, as in
            config/coreference_training.yaml.
        state: The file that a killed job goes on from.
        names: Names that stand in for people's, where windows are rewritten.
        fetched: JSON file that says which commit of an encoder was fetched from the hub.
        device: ``cpu`` or a CUDA device.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    started = time.monotonic()
    configuration = Configuration.parse(model, f"config/coreference_training.yaml: {name}: model")
    settings = training.Settings.parse(training_settings, f"config/coreference_training.yaml: {name}: training")
    device = loading.pick_device(device)
    is_delta = Path(weights).suffix == ".safetensors"
    if is_delta and not (configuration.lora_rank and "package" in encoder):
        raise UserError(f"{weights}: a delta needs low-rank updates and the encoder of a package; name a folder")
    parts = [documents.read_documents(path) for path in (train, development, test)]
    for part, listed in zip(documents.PARTS, parts, strict=True):
        log.info("%s: %d documents, %d words", part, len(listed), sum(len(document.words) for document in listed))
    if fetched:
        encoder = encoder | {"revision": hub.read_record(fetched)["source"]["revision"]}
    torch.manual_seed(settings.seed)
    attention = "eager" if configuration.shared_dropout else None
    system, tokenizer = checkpoints.build_model(
        encoder_folder(name, encoder, fetched), configuration, attention=attention
    )
    splitter = Splitter(tokenizer, configuration)

    def report(news: str | dict[str, Any]) -> None:
        log.info("%s", news if isinstance(news, str) else f"epoch {news['epoch']}: {json.dumps(news)}")

    training_run = training.Training(
        system, splitter, parts[0], parts[1], settings, names=rewriting.read_names(names) if names else None,
        device=device, state=state, report=report,
    )  # fmt: skip
    training_run.run()
    recipe = {
        "name": name,
        "documents_sha256": {Path(path).name: files.sha256(path) for path in (train, development, test)},
        "names_sha256": files.sha256(names) if names else None,
        "encoder": encoder,
        "training": training_settings,
        "minutes": round((time.monotonic() - started) / 60, 1),
        "history": training_run.history,
    }
    if is_delta:
        checkpoints.write_delta(weights, system, encoder, recipe)
    else:
        checkpoints.write_folder(weights, system, tokenizer, recipe)
    Path(state).unlink(missing_ok=True)
    # What was written, as it is read again: in half precision where that is how it is stored.
    system, tokenizer = checkpoints.load_system(weights)
    scores = training.score_model(
        system.to(device), Splitter(tokenizer, system.configuration), parts[2], device, "float32"
    )
    log.info("test: %s", json.dumps(scores))


if __name__ == "__main__":
    run(main)
