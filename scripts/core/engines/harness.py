"""lm-evaluation-harness as a peer in measurements: a process of its own environment that is asked line by line.

    PEER_PYTHON -m scripts.core.engines.harness

It reads JSON objects from standard input, one a line, and answers each with one: first ``{"folder": ...,
"threads": ..., "batch": ...}`` of a model, then ``{"score": [[context, continuation], ...]}`` or
``{"generate": [prompt, ...], "new_tokens": ...}``. Answers have ``seconds``, loading excluded, and ``results``: sums of
log-probabilities, or texts.
This module imports nothing but the standard library until it serves.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.core.errors import UserError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


def write_model(network: "PreTrainedModel", tokenizer: "PreTrainedTokenizerBase", folder: str) -> None:
    """Write a model and its tokenizer for :class:`Peer`.

    Weights of a GGUF file are plain numbers once they are loaded; transformers marks them as quantised all the same,
    and would not write them.
    """
    kept = network.__dict__.pop("hf_quantizer", None)
    marked = network.config.__dict__.pop("quantization_config", None)
    try:
        network.save_pretrained(folder)
    finally:
        network.__dict__.update({"hf_quantizer": kept} if kept else {})
        network.config.__dict__.update({"quantization_config": marked} if marked else {})
    tokenizer.save_pretrained(folder)


class Peer:
    """The process, from this side.

    Args:
        python: The interpreter of the environment of ``envs/peers.lock``.
        folder: What ``save_pretrained`` wrote of model and tokenizer.
        threads, batch: Threads of PyTorch; requests in a batch.
    """

    def __init__(self, python: str | Path, folder: str | Path, threads: int, batch: int):
        root = Path(__file__).parents[3]
        self.process = subprocess.Popen(
            # The process starts in the repository. A link to the interpreter stays one: it names the environment.
            [str(Path(python).absolute()), "-m", "scripts.core.engines.harness"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "HF_HUB_OFFLINE": "1"},
            text=True,
        )
        self.ask({"folder": str(Path(folder).resolve()), "threads": threads, "batch": batch})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a request.

        Raises:
            UserError: If the process has ended.
        """
        assert self.process.stdin is not None and self.process.stdout is not None, "they are pipes"
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise UserError(
                f"lm-evaluation-harness ended with status {self.process.wait()}; make its environment again: make bench"
            )
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin is not None, "it is a pipe"
        self.process.stdin.close()
        self.process.wait()


def serve() -> None:
    """Answer requests until standard input ends."""
    import torch
    from lm_eval.api.instance import Instance  # pyright: ignore[reportMissingImports]
    from lm_eval.models.huggingface import HFLM  # pyright: ignore[reportMissingImports]

    answers, sys.stdout = sys.stdout, sys.stderr
    model = None
    for line in sys.stdin:
        asked = json.loads(line)
        if "folder" in asked:
            torch.set_num_threads(asked["threads"])
            model = HFLM(pretrained=asked["folder"], device="cpu", dtype="float32", batch_size=asked["batch"])
            answer = {}
        else:
            kind = "loglikelihood" if "score" in asked else "generate_until"
            stop = {"until": [], "max_gen_toks": asked.get("new_tokens"), "do_sample": False}
            arguments = [tuple(pair) for pair in asked.get("score", ())] or [(text, stop) for text in asked["generate"]]
            requests = [Instance(kind, {}, given, n) for n, given in enumerate(arguments)]
            started = time.perf_counter()
            found = getattr(model, kind)(requests, disable_tqdm=True)
            seconds = time.perf_counter() - started
            answer = {"seconds": seconds, "results": [one[0] for one in found] if kind == "loglikelihood" else found}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve()
