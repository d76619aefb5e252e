"""Resolve documents with a system of a package: what runs in the environment of envs/coreference.in.

    python -m scripts.core.coreference_systems.packages.worker

Standard input has one JSON object a line: first the system (``name``, ``architecture``, ``checkpoint``, ``encoder``,
``device``, ``threads``), then documents (``document``, ``text``). Standard output has one line for each of them: facts
of the system that was loaded, then ``document``, ``text_sha256``, ``tokens`` and ``clusters``
(:mod:`scripts.core.data.coreference`). A line with ``error`` ends it.
"""

import json
import os
import sys
from typing import Any

from scripts.core.coreference_systems.packages import caw, fastcoref_systems, words
from scripts.core.data.coreference import KEYS
from scripts.core.errors import UserError


def open_system(settings: dict[str, Any]) -> caw.Caw | fastcoref_systems.FastCoref:
    """Return a system that is ready to resolve documents."""
    import torch

    torch.set_num_threads(settings["threads"])
    device = words.check_device(settings["device"])
    if settings["architecture"] == "caw":
        system = caw.Caw(settings["name"], settings["checkpoint"], settings["encoder"], device)
    else:
        system = fastcoref_systems.FastCoref(settings["name"], settings["architecture"], settings["checkpoint"], device)
    system.facts["device"] = "cpu" if device == "cpu" else torch.cuda.get_device_name(device)
    return system


def main() -> None:
    """Serve one system until standard input ends."""
    # Packages may print; the answers have standard output to themselves.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def answer(line: dict[str, Any]) -> None:
        answers.write(json.dumps(line, ensure_ascii=False) + "\n")
        answers.flush()

    lines = (json.loads(line) for line in sys.stdin)
    try:
        system = open_system(next(lines))
        answer(system.facts)
        for line in lines:
            document = system.resolve(line["document"], line["text"])
            answer({key: getattr(document, key) for key in KEYS})
    except UserError as error:
        answer({"error": str(error)})
        sys.exit(1)


if __name__ == "__main__":
    main()
