"""Build tiny coreference systems of packages with random weights: checkpoints of LingMess, F-coref and CAW-coref.

Runs in the environment of those packages (envs/coreference.in). What these systems resolve means nothing; they show
that the machinery works.

    python -m tests.coreference_zoo --folder zoo
"""

import argparse
import json
import tempfile
from pathlib import Path

from scripts.core.coreference_systems.packages import fastcoref_systems
from tests import zoo

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
NAMES = ("tiny-lingmess", "tiny-f-coref", "tiny-caw", "tiny-caw-lora")


def roberta_tokenizer():
    """Return RoBERTa's kind of tokenizer, trained on the spot; the packages' transformers takes files by place."""
    import transformers

    with tempfile.TemporaryDirectory() as folder:
        vocabulary, merges = zoo._trained("roberta").save_model(folder)
        return transformers.RobertaTokenizerFast(vocabulary, merges, model_max_length=256)


def fast(folder, seed, kind, longest):
    """Save a checkpoint of fastcoref."""
    import torch
    import transformers
    from fastcoref.coref_models.modeling_fcoref import FCorefModel
    from fastcoref.coref_models.modeling_lingmess import LingMessModel

    folder.mkdir(parents=True)
    tokenizer = roberta_tokenizer()
    head = {"max_span_length": 5, "top_lambda": 0.4, "ffnn_size": 24, "dropout_prob": 0.3, "max_segment_len": 32}
    if longest:
        head["max_doc_len"] = longest
    shared = {
        "vocab_size": len(tokenizer), "max_position_embeddings": 258, "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id, "type_vocab_size": 1, **SIZES,
    }  # fmt: skip
    torch.manual_seed(seed)
    if kind == LingMessModel.__name__:
        config, network = transformers.LongformerConfig(attention_window=16, **shared), LingMessModel
    else:
        config, network = transformers.RobertaConfig(**shared), FCorefModel
    config.coref_head = head
    with fastcoref_systems._eager():
        model = network(config)
    zoo.make_louder(model, 6)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)


def caw(folder, seed, lora):
    """Save a checkpoint as Stanza does, and beside it the transformer that it builds on."""
    import torch
    import transformers
    from stanza.models.coref.config import Config
    from stanza.models.coref.model import CorefModel

    encoder = folder / "encoder"
    encoder.mkdir(parents=True)
    tokenizer = roberta_tokenizer()
    torch.manual_seed(seed)
    network = transformers.RobertaModel(
        transformers.RobertaConfig(
            vocab_size=len(tokenizer), max_position_embeddings=258, pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, **SIZES,
        )
    )  # fmt: skip
    zoo.make_louder(network, 6)
    tokenizer.save_pretrained(encoder)
    network.save_pretrained(encoder)
    model = CorefModel(
        config=Config(
            section="tiny", data_dir="", save_dir="", save_name="tiny", train_data="", dev_data="", test_data="",
            device="cpu", bert_model=str(encoder), bert_window_size=128, embedding_size=8, sp_embedding_size=64,
            a_scoring_batch_size=64, hidden_size=24, n_hidden_layers=1, max_span_len=16, rough_k=10, lora=lora,
            lora_alpha=8, lora_rank=2, lora_dropout=0.0, full_pairwise=False, lora_target_modules=["query", "value"],
            lora_modules_to_save=[], clusters_starts_are_singletons=True, bert_finetune=not lora, dropout_rate=0.3,
            learning_rate=1e-3, bert_learning_rate=1e-5, bert_finetune_begin_epoch=0.0, train_epochs=1,
            plateau_epochs=0, bce_loss_weight=0.5, tokenizer_kwargs={}, conll_log_dir="", save_each_checkpoint=False,
            log_norms=False, singletons=True, max_train_len=5000, use_zeros=False, lang_lr_attenuation="",
            lang_lr_weights="",
        ),
        build_optimizers=False,
    )  # fmt: skip
    for part in ("rough_scorer", "a_scorer", "sp", "we"):
        zoo.make_louder(model.trainable[part], 3)
    model.save_weights(str(folder / "model.pt"), save_optimizers=False)


def build(folder, names=NAMES):
    """Build systems below ``folder`` and return their registry entries by name."""
    folder = Path(folder).resolve()
    makers = {
        "tiny-lingmess": ("lingmess", lambda path: fast(path, 1, "LingMessModel", 128)),
        "tiny-f-coref": ("f-coref", lambda path: fast(path, 2, "FCorefModel", None)),
        "tiny-caw": ("caw", lambda path: caw(path, 3, lora=False)),
        "tiny-caw-lora": ("caw", lambda path: caw(path, 4, lora=True)),
    }
    entries = {}
    for name in names:
        architecture, make = makers[name]
        make(folder / name)
        entries[name] = {
            "label": f"{name.removeprefix('tiny-')} (random)", "family": name, "size": "tiny",
            "architecture": architecture, "parameters": 60000, "source": {"path": str(folder / name)},
            **({"encoder": {"path": str(folder / name / "encoder")}} if architecture == "caw" else {}),
            "precision": "float32", "gpus": 0, "environment": "coreference", "licence": "MIT", "gated": False,
            "demonstration": False, "studies": {},
        }  # fmt: skip
    return entries


def main():
    """Build the systems from the command line and print their registry entries."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="zoo", help="where the checkpoints go (default: zoo)")
    parser.add_argument("--systems", nargs="*", choices=NAMES, default=NAMES, help="which to build")
    arguments = parser.parse_args()
    entries = build(arguments.folder, arguments.systems)
    (Path(arguments.folder) / "systems.json").write_text(json.dumps(entries, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
