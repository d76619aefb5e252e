"""Build tiny checkpoints with random weights, one for each architecture of the studies and a few beyond.

Each has a tokenizer of its family's real type, trained on the spot on this project's own templates, small enough that
neopronouns split into pieces. Scores of these models mean nothing; they show that the machinery works.

    python -m tests.zoo --folder zoo
"""

import argparse
import copy
import functools
import json
import os
import string
from collections.abc import Sequence
from pathlib import Path

import yaml

from scripts.core.models.entries import read_job_entry

# The torch device on which tests run models (CONTRIBUTING.md).
DEVICE = os.environ.get("PRONOUN_TEST_DEVICE", "cpu")


def load(name: str, entry: dict, device: str = DEVICE, weights: str | Path | None = None) -> tuple:
    """Return network and tokenizer, as jobs load them."""
    from scripts.core.models import loading

    wanted = read_job_entry(entry)
    return loading.load(name, wanted, loading.locate(name, wanted, weights), device)


# Letters that begin sentences with neopronouns alone; vocabularies of published models have them.
LETTERS = tuple(string.ascii_letters)
CORPUS_FORMS = ("he", "she", "they", "his", "her", "their", "him", "them")
VOCABULARY = 600


@functools.cache
def corpus():
    """Return training text for the tokenizers: the replica templates with familiar pronouns filled in."""
    root = Path(__file__).parents[1]
    lines = []
    for path in sorted((root / "templates").rglob("*.tsv")):
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
def _trained(kind, given, training):
    import tokenizers

    tokenizer = getattr(tokenizers, kind)(**dict(given))
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in training}
    tokenizer.train_from_iterator(corpus(), vocab_size=VOCABULARY, show_progress=False, **options)
    return tokenizer


def _train(kind, given=(), **training):
    """Return a tokenizer of a class of the package tokenizers, trained on the corpus once in each process.

    ``given`` are pairs of names and values for the class; ``training`` are options of the training.
    """
    # Callers change what comes after the model.
    return copy.deepcopy(_trained(kind, given, tuple(training.items())))


def _wordpiece(folder, lowercase=True):
    from transformers import BertTokenizerFast

    tokenizer = _train("BertWordPieceTokenizer", (("lowercase", lowercase),), initial_alphabet=LETTERS)
    tokenizer.save_model(str(folder))
    return BertTokenizerFast(vocab=str(folder / "vocab.txt"), do_lower_case=lowercase)


def _cased_wordpiece(folder):
    return _wordpiece(folder, lowercase=False)


def _byte_level(*specials):
    return _train("ByteLevelBPETokenizer", special_tokens=specials)


def _roberta(folder):
    from transformers import RobertaTokenizerFast

    _byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>").save_model(str(folder))
    return RobertaTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"))


def _unigram(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import AlbertTokenizerFast

    specials = ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    tokenizer = _train(
        "SentencePieceUnigramTokenizer", special_tokens=specials, unk_token="<unk>", initial_alphabet=LETTERS
    )
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return AlbertTokenizerFast(tokenizer_object=tokenizer._tokenizer)


def _opt(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = _byte_level("<s>", "<pad>", "</s>", "<unk>")
    # OPT starts every text with its end-of-sequence token.
    tokenizer.post_processor = TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="</s>", eos_token="</s>", pad_token="<pad>", unk_token="</s>"
    )


def _neox(folder):
    from transformers import GPTNeoXTokenizerFast

    tokenizer = _byte_level("<|endoftext|>", "<|padding|>")
    return GPTNeoXTokenizerFast(tokenizer_object=tokenizer._tokenizer)


def _llama(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    specials = ("<unk>", "<s>", "</s>")
    tokenizer = _train("SentencePieceBPETokenizer", special_tokens=specials, initial_alphabet=LETTERS)
    tokenizer.post_processor = TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


def _deberta(folder):
    from transformers import DebertaV2TokenizerFast

    tokenizer = _unigram(folder).backend_tokenizer
    return DebertaV2TokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", unk_token="<unk>")


def _t5(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    sentinels = [f"<extra_id_{i}>" for i in range(4)]
    specials = ("<pad>", "</s>", "<unk>", *sentinels)
    tokenizer = _train(
        "SentencePieceUnigramTokenizer", special_tokens=specials, unk_token="<unk>", initial_alphabet=LETTERS
    )
    tokenizer.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer,
        pad_token="<pad>",
        eos_token="</s>",
        unk_token="<unk>",
        additional_special_tokens=sentinels,
        model_input_names=["input_ids", "attention_mask"],
    )


def _bart(folder):
    from transformers import BartTokenizerFast

    _byte_level("<s>", "<pad>", "</s>", "<unk>", "<mask>").save_model(str(folder))
    return BartTokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt"))


def _gpt2(folder):
    from transformers import GPT2TokenizerFast

    return GPT2TokenizerFast(tokenizer_object=_byte_level("<|endoftext|>")._tokenizer)


def _bloom(folder):
    from transformers import PreTrainedTokenizerFast

    tokenizer = _byte_level("<unk>", "<s>", "</s>", "<pad>")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )


def _llama_3(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = _byte_level("<|begin_of_text|>", "<|end_of_text|>")
    tokenizer.post_processor = TemplateProcessing(
        single="<|begin_of_text|> $A", special_tokens=[("<|begin_of_text|>", 0)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, bos_token="<|begin_of_text|>", eos_token="<|end_of_text|>"
    )


def _qwen(folder):
    from transformers import PreTrainedTokenizerFast

    tokenizer = _byte_level("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>"
    )
    made.chat_template = CHAT_TEMPLATE
    return made


def _gemma(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    specials = ("<pad>", "<eos>", "<bos>", "<unk>")
    tokenizer = _train("SentencePieceBPETokenizer", (("add_prefix_space", False),), special_tokens=specials)
    tokenizer.post_processor = TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 2)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer,
        pad_token="<pad>",
        bos_token="<bos>",
        eos_token="<eos>",
        unk_token="<unk>",
    )


def _modernbert(folder):
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    tokenizer = _byte_level("[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]")
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)])
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer._tokenizer,
        cls_token="[CLS]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        unk_token="[UNK]",
        mask_token="[MASK]",
    )


def _alibi_bert(tokenizer):
    from tests.zoo_code.alibi_bert import AlibiBertConfig, AlibiBertForMaskedLM, AlibiBertModel

    AlibiBertConfig.register_for_auto_class()
    AlibiBertModel.register_for_auto_class("AutoModel")
    AlibiBertForMaskedLM.register_for_auto_class("AutoModelForMaskedLM")
    return AlibiBertForMaskedLM(AlibiBertConfig(vocab_size=len(tokenizer)))


def _special_tokens(tokenizer, *names, start=None):
    """Return a configuration's ids of special tokens; ``start`` names the one with which a decoder starts."""
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in names}
    return ids if start is None else {**ids, "decoder_start_token_id": ids[f"{start}_token_id"]}


def _models():
    """Return the constructors: name -> (architecture, family, tokenizer builder, model builder from a tokenizer)."""
    import transformers as t

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}

    def encoder(kind, config, **options):
        return lambda tokenizer: kind(
            config(
                vocab_size=len(tokenizer),
                max_position_embeddings=258,
                **_special_tokens(tokenizer, "pad"),
                **sizes,
                **options,
            )
        )

    def decoder(kind, config, **options):
        return lambda tokenizer: kind(
            config(
                vocab_size=len(tokenizer),
                **_special_tokens(tokenizer, "bos", "eos"),
                **{"max_position_embeddings": 256, **sizes, **options},
            )
        )

    def state_space(kind, config, **options):
        """Without attention, and without an end to its positions."""
        return lambda tokenizer: kind(
            config(
                vocab_size=len(tokenizer),
                hidden_size=32,
                num_hidden_layers=2,
                state_size=8,
                **_special_tokens(tokenizer, "bos", "eos"),
                **options,
            )
        )

    def narrow(kind, config, **options):
        """GPT-2's names for the sizes."""
        return lambda tokenizer: kind(
            config(
                vocab_size=len(tokenizer),
                n_positions=256,
                n_embd=32,
                n_layer=2,
                n_head=4,
                bos_token_id=0,
                eos_token_id=0,
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
                # Like OPT-350m: embeddings narrower than the layers, with projections in between.
                word_embed_proj_dim=16,
                bos_token_id=2,
                eos_token_id=2,
                pad_token_id=1,
            )
        )

    def t5(**options):
        return lambda tokenizer: t.T5ForConditionalGeneration(
            t.T5Config(
                vocab_size=len(tokenizer),
                d_model=32,
                d_kv=8,
                d_ff=64,
                num_layers=2,
                num_heads=4,
                **_special_tokens(tokenizer, "pad", "eos", start="pad"),
                **options,
            )
        )

    def bart(tokenizer):
        return t.BartForConditionalGeneration(
            t.BartConfig(
                vocab_size=len(tokenizer),
                d_model=32,
                encoder_layers=2,
                decoder_layers=2,
                encoder_attention_heads=4,
                decoder_attention_heads=4,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_position_embeddings=258,
                **_special_tokens(tokenizer, "pad", "bos", "eos", start="eos"),
            )
        )

    def bloom(tokenizer):
        return t.BloomForCausalLM(t.BloomConfig(vocab_size=len(tokenizer), hidden_size=32, n_layer=2, n_head=4))

    bert = encoder(t.BertForMaskedLM, t.BertConfig)
    flan = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
    grouped = {"num_key_value_heads": 2, "head_dim": 8}
    # Like the models of these families: every few layers one that sees all of a text, the others a window of it.
    windows = {"num_key_value_heads": 2, "layer_types": ["sliding_attention", "full_attention"]}
    stretched = {
        "rope_type": "llama3",
        "factor": 32.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 128,
    }
    disentangled = {
        "relative_attention": True,
        "pos_att_type": ["p2c", "c2p"],
        "position_buckets": 64,
        "share_att_key": True,
        "norm_rel_ebd": "layer_norm",
        "position_biased_input": False,
        "type_vocab_size": 0,
    }
    modern = encoder(
        t.ModernBertForMaskedLM,
        t.ModernBertConfig,
        cls_token_id=0,
        bos_token_id=0,
        sep_token_id=1,
        eos_token_id=1,
        reference_compile=False,
    )
    return {
        "tiny-bert": ("encoder", "BERT", _wordpiece, bert),
        "tiny-roberta": ("encoder", "RoBERTa", _roberta, encoder(t.RobertaForMaskedLM, t.RobertaConfig)),
        "tiny-albert": (
            "encoder",
            "ALBERT-v2",
            _unigram,
            encoder(t.AlbertForMaskedLM, t.AlbertConfig, embedding_size=16),
        ),
        "tiny-opt": ("decoder", "OPT", _opt, opt),
        "tiny-gpt-neox": ("decoder", "Pythia", _neox, decoder(t.GPTNeoXForCausalLM, t.GPTNeoXConfig)),
        "tiny-llama": ("decoder", "Llama-2", _llama, decoder(t.LlamaForCausalLM, t.LlamaConfig)),
        "tiny-mosaicbert": ("encoder", "MosaicBERT", _wordpiece, _alibi_bert),
        "tiny-spanbert": ("encoder", "SpanBERT", _cased_wordpiece, bert),
        "tiny-modernbert": ("encoder", "ModernBERT", _modernbert, modern),
        "tiny-gpt2": ("decoder", "GPT-2", _gpt2, narrow(t.GPT2LMHeadModel, t.GPT2Config)),
        "tiny-gpt-j": ("decoder", "GPT-J", _gpt2, narrow(t.GPTJForCausalLM, t.GPTJConfig, rotary_dim=4)),
        "tiny-bloom": ("decoder", "BLOOM", _bloom, bloom),
        "tiny-qwen": ("decoder", "Qwen", _qwen, decoder(t.Qwen2ForCausalLM, t.Qwen2Config, num_key_value_heads=2)),
        "tiny-gemma": ("decoder", "Gemma", _gemma, decoder(t.GemmaForCausalLM, t.GemmaConfig, **grouped)),
        "tiny-bart": ("encoder-decoder", "BART", _bart, bart),
        "tiny-t5": ("encoder-decoder", "T5", _t5, t5()),
        "tiny-flan-t5": ("encoder-decoder", "FLAN-T5", _t5, t5(**flan)),
        "tiny-ul2": ("encoder-decoder", "UL2", _t5, t5(feed_forward_proj="gated-silu", tie_word_embeddings=False)),
        "tiny-llama-3": (
            "decoder",
            "Llama-3",
            _llama_3,
            decoder(
                t.LlamaForCausalLM,
                t.LlamaConfig,
                **grouped,
                rope_scaling=stretched,
                tie_word_embeddings=True,
            ),
        ),
        "tiny-qwen3": ("decoder", "Qwen3", _qwen, decoder(t.Qwen3ForCausalLM, t.Qwen3Config, **grouped)),
        "tiny-gemma-3": (
            "decoder",
            "Gemma-3",
            _gemma,
            decoder(t.Gemma3ForCausalLM, t.Gemma3TextConfig, **windows, head_dim=8, sliding_window=512),
        ),
        "tiny-olmo2": ("decoder", "OLMo-2", _gpt2, decoder(t.Olmo2ForCausalLM, t.Olmo2Config, num_key_value_heads=2)),
        "tiny-olmo3": (
            "decoder",
            "OLMo-3",
            _gpt2,
            decoder(t.Olmo3ForCausalLM, t.Olmo3Config, **windows, sliding_window=4096),
        ),
        "tiny-mistral": ("decoder", "Mistral", _llama, decoder(t.MistralForCausalLM, t.MistralConfig, **grouped)),
        "tiny-phi-4": (
            "decoder",
            "Phi-4",
            _gpt2,
            decoder(t.Phi3ForCausalLM, t.Phi3Config, num_key_value_heads=2, pad_token_id=0),
        ),
        "tiny-smollm3": (
            "decoder",
            "SmolLM3",
            _qwen,
            # Like SmolLM3: layers without rotary positions in between.
            decoder(
                t.SmolLM3ForCausalLM,
                t.SmolLM3Config,
                num_key_value_heads=2,
                no_rope_layers=[1, 0],
                pad_token_id=0,
            ),
        ),
        "tiny-mamba": ("decoder", "Mamba", _neox, state_space(t.MambaForCausalLM, t.MambaConfig)),
        "tiny-mamba-2": (
            "decoder",
            "Mamba-2",
            _llama,
            state_space(t.Mamba2ForCausalLM, t.Mamba2Config, num_heads=8, head_dim=8, n_groups=2, chunk_size=32),
        ),
        "tiny-falcon-mamba": (
            "decoder",
            "Falcon-Mamba",
            _gpt2,
            state_space(t.FalconMambaForCausalLM, t.FalconMambaConfig, tie_word_embeddings=False),
        ),
        "tiny-deberta-v3": (
            "encoder",
            "DeBERTa-v3",
            _deberta,
            encoder(t.DebertaV2ForMaskedLM, t.DebertaV2Config, **disentangled),
        ),
    }


NAMES = ("tiny-bert", "tiny-roberta", "tiny-albert", "tiny-opt", "tiny-gpt-neox", "tiny-llama")
"""One for each architecture that RUFF scores by likelihood and transformers brings code for."""

ALL_NAMES = (
    *NAMES,
    "tiny-mosaicbert",
    "tiny-spanbert",
    "tiny-modernbert",
    "tiny-gpt2",
    "tiny-gpt-j",
    "tiny-bloom",
    "tiny-qwen",
    "tiny-gemma",
    "tiny-bart",
    "tiny-t5",
    "tiny-flan-t5",
    "tiny-ul2",
    "tiny-llama-3",
    "tiny-qwen3",
    "tiny-gemma-3",
    "tiny-olmo2",
    "tiny-olmo3",
    "tiny-mistral",
    "tiny-phi-4",
    "tiny-smollm3",
    "tiny-mamba",
    "tiny-mamba-2",
    "tiny-falcon-mamba",
    "tiny-deberta-v3",
)
"""Every architecture of the five studies and of ``config/modern.yaml``; beyond both Qwen2, Gemma 1 and DeBERTa-v3."""

STATE_SPACE = ("tiny-mamba", "tiny-mamba-2", "tiny-falcon-mamba")
"""Decoders that carry a state from token to token: nothing of what texts share can be computed once."""

SCALES = {"t5": 1.5, "mamba": 2}
"""By how much the weights of a class are multiplied whose name holds the key; those of all others by 6."""

WRAPPINGS = {"tiny-llama": "llama2", "tiny-flan-t5": "none", "tiny-qwen": "chat_template"}
"""Models that stand for chat models, and what is put around their prompts."""

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


def build(folder: str | Path, names: Sequence[str] = NAMES) -> Path:
    """Build checkpoints below ``folder``, a coreference system as well, and a registry file that lists them.

    Args:
        names: Which of :data:`ALL_NAMES` to build.

    Returns:
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
        # The usual initialisation is so small that every option would get nearly the same score. T5's is scaled by
        # itself already.
        scale = next((value for part, value in SCALES.items() if part in type(model).__name__.lower()), 6)
        with torch.no_grad():
            for parameter in model.parameters():
                if parameter.dim() > 1:
                    parameter.mul_(scale)
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
        if name in WRAPPINGS:
            entries[name]["prompt_wrapping"] = WRAPPINGS[name]
        if name == "tiny-mosaicbert":
            entries[name]["remote_code"] = True
    registry = folder / "models.yaml"
    systems = {"tiny-c2f": build_c2f(folder)}
    registry.write_text(yaml.safe_dump({"models": entries, "systems": systems}, sort_keys=False), encoding="utf-8")
    return registry


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
    tokens = target.parent / f"{name}-tokens"
    tokens.mkdir(parents=True, exist_ok=True)
    tokenizer = _cased_wordpiece(tokens)
    torch.manual_seed(5)
    encoder = t.BertModel(
        t.BertConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
            max_position_embeddings=258,
        ),
        add_pooling_layer=False,
    )  # fmt: skip
    model = C2F(encoder, Configuration(max_segment_pieces=64, max_span_width=6, ffnn_size=24, feature_size=6))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(4)
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
