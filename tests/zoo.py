"""Build tiny checkpoints with random weights, one for each architecture that RUFF scores by likelihood.

Each has a tokenizer of its family's real type, trained on the spot on this project's own templates, small enough that
neopronouns split into pieces. Scores of these models mean nothing; they show that the machinery works.

    python -m tests.zoo --folder zoo
"""

import argparse
import json
from pathlib import Path

import yaml

CORPUS_FORMS = ("he", "she", "they", "his", "her", "their", "him", "them")
VOCABULARY = 600


def corpus():
    """Return training text for the tokenizers: the replica templates with familiar pronouns filled in."""
    root = Path(__file__).parents[1]
    lines = []
    for path in sorted((root / "templates").rglob("*.tsv")):
        for row in path.read_text(encoding="utf-8").splitlines():
            if not row.startswith("#"):
                cells = row.replace("{person}", "customer").split("\t")
                lines += [cell.replace("{pronoun}", form) for cell in cells for form in CORPUS_FORMS]
    return lines


def _wordpiece(folder):
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizerFast

    tokenizer = BertWordPieceTokenizer(lowercase=True)
    tokenizer.train_from_iterator(corpus(), vocab_size=VOCABULARY, show_progress=False)
    tokenizer.save_model(str(folder))
    return BertTokenizerFast(vocab_file=str(folder / "vocab.txt"), do_lower_case=True)


def _byte_level(specials):
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(corpus(), vocab_size=VOCABULARY, special_tokens=specials, show_progress=False)
    return tokenizer


def _roberta(folder):
    from transformers import RobertaTokenizerFast

    _byte_level(["<s>", "<pad>", "</s>", "<unk>", "<mask>"]).save_model(str(folder))
    return RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"))


def _unigram(folder):
    from tokenizers import SentencePieceUnigramTokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import AlbertTokenizerFast

    specials = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = SentencePieceUnigramTokenizer()
    tokenizer.train_from_iterator(
        corpus(), vocab_size=VOCABULARY, special_tokens=specials, unk_token="<unk>", show_progress=False
    )
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return AlbertTokenizerFast(tokenizer_object=tokenizer._tokenizer)


def _opt(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = _byte_level(["<s>", "<pad>", "</s>", "<unk>"])
    # OPT starts every text with its end-of-sequence token.
    tokenizer.post_processor = TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="</s>", eos_token="</s>", pad_token="<pad>", unk_token="</s>"
    )


def _neox(folder):
    from transformers import GPTNeoXTokenizerFast

    tokenizer = _byte_level(["<|endoftext|>", "<|padding|>"])
    return GPTNeoXTokenizerFast(tokenizer_object=tokenizer._tokenizer)


def _llama(folder):
    from tokenizers import SentencePieceBPETokenizer
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = SentencePieceBPETokenizer()
    tokenizer.train_from_iterator(
        corpus(), vocab_size=VOCABULARY, special_tokens=["<unk>", "<s>", "</s>"], show_progress=False
    )
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def _models():
    """Return the constructors: name -> (architecture, family, tokenizer builder, model builder from a tokenizer)."""
    import transformers as t

    def encoder(kind, config, **options):
        return lambda tokenizer: kind(
            config(
                vocab_size=len(tokenizer),
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=258,
                pad_token_id=tokenizer.pad_token_id,
                **options,
            )
        )

    def opt(tokenizer):
        return t.OPTForCausalLM(
            t.OPTConfig(
                vocab_size=len(tokenizer),
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                ffn_dim=64,
                max_position_embeddings=256,
                word_embed_proj_dim=32,
                bos_token_id=2,
                eos_token_id=2,
                pad_token_id=1,
            )
        )

    def decoder(kind, config):
        return lambda tokenizer: kind(
            config(
                vocab_size=len(tokenizer),
                hidden_size=32,
                num_hidden_layers=2,
                num_attention_heads=4,
                intermediate_size=64,
                max_position_embeddings=256,
                bos_token_id=tokenizer.bos_token_id,
                eos_token_id=tokenizer.eos_token_id,
            )
        )

    albert = encoder(t.AlbertForMaskedLM, t.AlbertConfig, embedding_size=16)
    return {
        "tiny-bert": ("encoder", "BERT", _wordpiece, encoder(t.BertForMaskedLM, t.BertConfig)),
        "tiny-roberta": ("encoder", "RoBERTa", _roberta, encoder(t.RobertaForMaskedLM, t.RobertaConfig)),
        "tiny-albert": (
            "encoder",
            "ALBERT-v2",
            _unigram,
            albert,
        ),
        "tiny-opt": ("decoder", "OPT", _opt, opt),
        "tiny-gpt-neox": ("decoder", "Pythia", _neox, decoder(t.GPTNeoXForCausalLM, t.GPTNeoXConfig)),
        "tiny-llama": ("decoder", "Llama-2", _llama, decoder(t.LlamaForCausalLM, t.LlamaConfig)),
    }


NAMES = ("tiny-bert", "tiny-roberta", "tiny-albert", "tiny-opt", "tiny-gpt-neox", "tiny-llama")


def build(folder, names=NAMES):
    """Build checkpoints below ``folder`` and a registry file that lists them.

    Parameters
    ----------
    folder : str or Path
    names : sequence of str
        Which of :data:`NAMES` to build.

    Returns
    -------
    Path
        The registry, in the format of ``config/models.yaml``.
    """
    import torch

    folder = Path(folder).resolve()
    entries = {}
    for seed, (name, (architecture, family, make_tokenizer, make_model)) in enumerate(_models().items()):
        if name not in names:
            continue
        target = folder / name
        target.mkdir(parents=True, exist_ok=True)
        tokenizer = make_tokenizer(target)
        torch.manual_seed(seed)
        model = make_model(tokenizer)
        # The usual initialisation is so small that every option would get nearly the same score.
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.mul_(6)
        tokenizer.model_max_length = 256
        tokenizer.save_pretrained(target)
        model.save_pretrained(target)
        entries[name] = {
            "label": f"{family} (random)",
            "family": family,
            "size": "tiny",
            "architecture": architecture,
            "parameters": model.num_parameters(),
            "source": {"path": str(target)},
            "precision": "float32",
            "gpus": 0,
            "licence": "MIT",
            "gated": False,
            "demonstration": True,
            "studies": {},
        }
    registry = folder / "models.yaml"
    registry.write_text(yaml.safe_dump({"models": entries}, sort_keys=False), encoding="utf-8")
    return registry


def main():
    """Build the zoo from the command line and print the registry's path."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", default="zoo", help="where the checkpoints go (default: zoo)")
    parser.add_argument("--models", nargs="*", choices=NAMES, default=NAMES, help="which to build (default: all)")
    arguments = parser.parse_args()
    print(json.dumps({"registry": str(build(arguments.folder, arguments.models))}))


if __name__ == "__main__":
    main()
