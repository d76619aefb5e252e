"""Build tiny checkpoints with random weights, one for each architecture of the studies and a few beyond.

They stand in tests/zoo.yaml. Each has a tokenizer of its family's real type, trained on the spot on this project's own
templates, small enough that neopronouns split into pieces. Scores of these models mean nothing; they show that the
machinery works.

    python -m tests.zoo --folder zoo
"""

import argparse
import copy
import functools
import json
import os
import string
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

from scripts.core.models.entries import read_job_entry

# The torch device on which tests run models (CONTRIBUTING.md).
DEVICE = os.environ.get("PRONOUN_TEST_DEVICE", "cpu")
DATA = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))
MODELS = DATA["models"]
ALL_NAMES = tuple(MODELS)
"""Every architecture of the five studies and of ``config/modern.yaml``; beyond both Qwen2, Gemma 1 and DeBERTa-v3."""
NAMES = ALL_NAMES[:6]
"""One for each architecture that RUFF scores by likelihood and transformers brings code for."""

# Letters that begin sentences with neopronouns alone; vocabularies of published models have them.
LETTERS = tuple(string.ascii_letters)
CORPUS_FORMS = ("he", "she", "they", "his", "her", "their", "him", "them")
VOCABULARY = 600

CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
THINKING_TEMPLATE = CHAT_TEMPLATE.replace(
    "assistant\n{% endif %}",
    "assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}",
)
"""Asks whether the model is to think, as Qwen 3's does."""


def load(name: str, entry: dict, device: str = DEVICE, weights: str | Path | None = None) -> tuple:
    """Return network and tokenizer, as jobs load them."""
    from scripts.core.models import loading

    wanted = read_job_entry(entry)
    return loading.load_model(name, wanted, loading.locate_model(name, wanted, weights), device)


@functools.cache
def corpus():
    """Return training text for the tokenizers: the replica templates with familiar pronouns filled in."""
    lines = []
    for path in sorted((Path(__file__).parents[1] / "templates").rglob("*.tsv")):
        if path.stem in ("released_flags", "names", "declarations") or path.parent.name in ("winopron", "coreference"):
            # Tokens spent on numbers, names and labels, or on the sentences of one more study, make RUFF's longest
            # prompts longer than small models take.
            continue
        for row in path.read_text(encoding="utf-8").splitlines():
            if not row.startswith("#"):
                cells = row.replace("{person}", "customer").split("\t")
                lines += [cell.replace("{pronoun}", form) for cell in cells for form in CORPUS_FORMS]
    return lines


@functools.cache
def _trained(kind):
    """Return a tokenizer of the package tokenizers, trained once in each process."""
    import tokenizers

    row = DATA["tokenizers"][kind]
    specials, training = row.get("specials", []), {}
    if row["trainer"] != "BertWordPieceTokenizer":
        training["special_tokens"] = specials
    if row["trainer"] == "SentencePieceUnigramTokenizer":
        training["unk_token"] = "<unk>"
    if row.get("letters"):
        training["initial_alphabet"] = list(LETTERS)
    tokenizer = getattr(tokenizers, row["trainer"])(**row.get("options", {}))
    tokenizer.train_from_iterator(corpus(), vocab_size=VOCABULARY, show_progress=False, **training)
    if "template" in row:
        named = [(token, specials.index(token)) for token in row["template"].split() if token != "$A"]
        tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
            single=row["template"], special_tokens=named
        )
    return tokenizer


def make_tokenizer(kind: str):
    """Return a tokenizer of transformers, of one of the kinds of tests/zoo.yaml."""
    import transformers

    row = DATA["tokenizers"][kind]
    build = functools.partial(
        getattr(transformers, row.get("class", "PreTrainedTokenizerFast")), **row.get("arguments", {})
    )
    # Callers change what comes after the model.
    trained = copy.deepcopy(_trained(kind))
    if row.get("files"):
        with tempfile.TemporaryDirectory() as folder:
            made = build(**{Path(path).stem: path for path in trained.save_model(folder)})
    else:
        made = build(tokenizer_object=trained._tokenizer)
    made.chat_template = CHAT_TEMPLATE if row.get("chat") else None
    return made


def make_network(name: str, tokenizer):
    """Return a model of tests/zoo.yaml; the same weights each time."""
    import torch
    import transformers

    from tests.zoo_code import alibi_bert

    row = MODELS[name]
    own_code = row.get("remote_code", False)
    if own_code:
        alibi_bert.AlibiBertConfig.register_for_auto_class()
        alibi_bert.AlibiBertModel.register_for_auto_class("AutoModel")
        alibi_bert.AlibiBertForMaskedLM.register_for_auto_class("AutoModelForMaskedLM")
    kind = getattr(alibi_bert if own_code else transformers, row["class"])
    ids = {key: getattr(tokenizer, f"{role}_token_id") for key, role in row.get("ids", {}).items()}
    torch.manual_seed(ALL_NAMES.index(name))
    network = kind(kind.config_class(vocab_size=len(tokenizer), **ids, **row["options"]))
    make_louder(network, row.get("scale", 6))
    return network


def make_louder(network, factor):
    """Multiply the weights of random networks, whose options would all get nearly the same score."""
    import torch

    with torch.no_grad():
        for parameter in network.parameters():
            if parameter.dim() > 1:
                parameter.mul_(factor)


class Lazy(dict):
    """A mapping that makes what is first asked for."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def __missing__(self, name):
        self[name] = self.make(name)
        return self[name]


def build(folder: str | Path, names: Sequence[str] = NAMES) -> Path:
    """Build checkpoints below ``folder``, a coreference system as well, and a registry file that lists them.

    Args:
        names: Which of :data:`ALL_NAMES` to build.

    Returns:
        The registry, in the format of ``config/models.yaml``.
    """
    folder = Path(folder).resolve()
    models = {name: build_model(folder, name) for name in ALL_NAMES if name in names}
    registry = folder / "models.yaml"
    content = {"models": models, "systems": {"tiny-c2f": build_c2f(folder)}}
    registry.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return registry


def build_model(folder: Path, name: str) -> dict:
    """Build a checkpoint below a folder and return its registry entry."""
    row, target = MODELS[name], folder / name
    tokenizer = make_tokenizer(row["tokenizer"])
    network = make_network(name, tokenizer)
    tokenizer.model_max_length = 256
    tokenizer.save_pretrained(target)
    network.save_pretrained(target)
    return {
        "label": f"{row['family']} (random)", "family": row["family"], "size": "tiny",
        "architecture": row["architecture"], "parameters": network.num_parameters(), "source": {"path": str(target)},
        "precision": "float32", "gpus": 0, "licence": "MIT", "gated": False, "demonstration": True, "studies": {},
        **{key: row[key] for key in ("prompt_wrapping", "remote_code") if key in row},
    }  # fmt: skip


def build_c2f(folder, name="tiny-c2f"):
    """Build a tiny coarse-to-fine coreference system below ``folder`` and return its registry entry.

    Its scores are random, and loud enough that some spans are mentions and some pairs corefer.
    """
    import torch
    import transformers as t

    from scripts.core.coreference_systems.c2f import checkpoints
    from scripts.core.coreference_systems.c2f.configuration import Configuration
    from scripts.core.coreference_systems.c2f.model import C2F

    target = Path(folder).resolve() / name
    tokenizer = make_tokenizer("cased-wordpiece")
    torch.manual_seed(5)
    encoder = t.BertModel(
        t.BertConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=258,
        ),
        add_pooling_layer=False,
    )  # fmt: skip
    model = C2F(encoder, Configuration(max_segment_pieces=64, max_span_width=6, ffnn_size=24, feature_size=6))
    make_louder(model, 4)
    checkpoints.write_folder(target, model, tokenizer, {"made": "at random, for tests"})
    return {
        "label": "c2f (random)", "family": "c2f", "size": "tiny", "architecture": "c2f",
        "parameters": sum(parameter.numel() for parameter in model.parameters()), "source": {"path": str(target)},
        "precision": "float32", "gpus": 0, "environment": "main", "licence": "MIT", "gated": False,
        "demonstration": False, "studies": {},
    }  # fmt: skip


def main():
    """Build the zoo from the command line and print the registry's path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="zoo", help="where the checkpoints go (default: zoo)")
    parser.add_argument("--models", nargs="*", choices=ALL_NAMES, default=NAMES, help="which to build")
    arguments = parser.parse_args()
    print(json.dumps({"registry": str(build(arguments.folder, arguments.models))}))


if __name__ == "__main__":
    main()
