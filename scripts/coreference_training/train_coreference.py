"""Train a c2f coreference system as config/coreference_training.yaml says.

Goes on from the state of a run that was killed, with the same result; ``state`` is removed at the end. The weights are
those of the epoch with the best CoNLL F1 on the development documents; the test documents are scored once, after that.
"""

import json
import time
from pathlib import Path

import torch

from scripts.core import files
from scripts.core.coreference_systems import documents, training
from scripts.core.coreference_systems.c2f import checkpoints
from scripts.core.coreference_systems.c2f.configuration import Configuration
from scripts.core.coreference_systems.c2f.windows import Splitter
from scripts.core.models import hub, loading
from scripts.core.models.entries import ScoredModel, read_source
from scripts.core.workflow.job import log, run


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
    fetched: str = "",
    device: str = "cpu",
    threads: int = 1,
) -> None:
    """Write a system's weights to a folder.

    Args:
        train, development, test: The annotated documents of each part (JSON Lines).
        weights: The folder.
        name: The system's name.
        encoder: Where the encoder is: ``path`` or ``hub``.
        model, training_settings: What the system is made of and how it is trained, as in
            config/coreference_training.yaml.
        state: The file that a killed job goes on from.
        fetched: JSON file that says which commit of an encoder was fetched from the hub.
        device: ``cpu`` or a CUDA device.
    """
    torch.set_num_threads(threads)
    started = time.monotonic()
    configuration, settings = Configuration(**model), training.Settings(**training_settings)
    device = loading.pick_device(device)
    parts = [documents.read_documents(path) for path in (train, development, test)]
    for part, listed in zip(documents.PARTS, parts, strict=True):
        log.info("%s: %d documents, %d words", part, len(listed), sum(len(document.words) for document in listed))
    if fetched:
        encoder = encoder | {"revision": hub.read_record(fetched)["source"]["revision"]}
    torch.manual_seed(settings.seed)
    source = ScoredModel(source=read_source(encoder))
    folder = loading.locate_model(name, source, fetched=fetched or None).folder
    system, tokenizer = checkpoints.build_model(folder, configuration)
    splitter = Splitter(tokenizer, configuration)
    training_run = training.Training(
        system, splitter, parts[0], parts[1], settings, device=device, state=state, report=log.info
    )
    training_run.run()
    recipe = {
        "name": name,
        "documents_sha256": {Path(path).name: files.sha256(path) for path in (train, development, test)},
        "encoder": encoder,
        "training": training_settings,
        "minutes": round((time.monotonic() - started) / 60, 1),
        "history": training_run.history,
    }
    checkpoints.write_folder(weights, system, tokenizer, recipe)
    Path(state).unlink(missing_ok=True)
    # What was written, as it is read again.
    system, tokenizer = checkpoints.load_system(weights)
    scores = training.score_model(system.to(device), Splitter(tokenizer, system.configuration), parts[2], device)
    log.info("test: %s", json.dumps(scores))


if __name__ == "__main__":
    run(main)
