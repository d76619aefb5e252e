"""The registry's entries of ``config/modern.yaml``: what they state follows from what is public of each model."""

import pytest
import torch
import transformers

from scripts.core.config import load_yaml
from scripts.core.models import costs
from scripts.core.models.entries import Model, read_entry
from tests import zoo

REGISTRY = load_yaml("config/models.yaml")["models"]
CHOSEN = load_yaml("config/modern.yaml")["models"]


def sizes(vocabulary, hidden, layers, heads, pairs, inner, **more):
    """Return the sizes of a transformer under the names of their configurations."""
    return {
        "vocab_size": vocabulary, "hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads,
        "num_key_value_heads": pairs, "intermediate_size": inner, **more,
    }  # fmt: skip


TIED, LOOSE = {"tie_word_embeddings": True}, {"tie_word_embeddings": False}
GEMMA = {"head_dim": 256, **TIED}
QWEN = {"head_dim": 128}
PHI = {"pad_token_id": 0}
MAMBA_2 = {"num_heads": 64, "head_dim": 64, "n_groups": 1, "state_size": 128, **TIED}
FALCON = {"intermediate_size": 8192, "time_step_rank": 256, **LOOSE}

# Those of the hub, as public files hold them: whatever has parameters.
CONFIGURATIONS = {
    "llama-3.2-1b": ("Llama", "CausalLM", sizes(128256, 2048, 16, 32, 8, 8192, **TIED)),
    "llama-3.2-3b": ("Llama", "CausalLM", sizes(128256, 3072, 28, 24, 8, 8192, **TIED)),
    "llama-3.1-8b": ("Llama", "CausalLM", sizes(128256, 4096, 32, 32, 8, 14336, **LOOSE)),
    "qwen3-0.6b": ("Qwen3", "CausalLM", sizes(151936, 1024, 28, 16, 8, 3072, **QWEN, **TIED)),
    "qwen3-1.7b": ("Qwen3", "CausalLM", sizes(151936, 2048, 28, 16, 8, 6144, **QWEN, **TIED)),
    "qwen3-4b": ("Qwen3", "CausalLM", sizes(151936, 2560, 36, 32, 8, 9728, **QWEN, **TIED)),
    "qwen3-8b": ("Qwen3", "CausalLM", sizes(151936, 4096, 36, 32, 8, 12288, **QWEN, **LOOSE)),
    "gemma-3-270m": ("Gemma3", "CausalLM", sizes(262144, 640, 18, 4, 1, 2048, **GEMMA)),
    "gemma-3-1b": ("Gemma3", "CausalLM", sizes(262144, 1152, 26, 4, 1, 6912, **GEMMA)),
    "olmo-2-1b": ("Olmo2", "CausalLM", sizes(100352, 2048, 16, 16, 16, 8192, **LOOSE)),
    "olmo-2-7b": ("Olmo2", "CausalLM", sizes(100352, 4096, 32, 32, 32, 11008, **LOOSE)),
    "olmo-2-13b": ("Olmo2", "CausalLM", sizes(100352, 5120, 40, 40, 40, 13824, **LOOSE)),
    "olmo-3-7b": ("Olmo3", "CausalLM", sizes(100278, 4096, 32, 32, 32, 11008, **LOOSE)),
    "mistral-7b-v0.3": ("Mistral", "CausalLM", sizes(32768, 4096, 32, 32, 8, 14336, **LOOSE)),
    "phi-4-mini": ("Phi3", "CausalLM", sizes(200064, 3072, 32, 24, 8, 8192, **PHI, **TIED)),
    "phi-4": ("Phi3", "CausalLM", sizes(100352, 5120, 40, 40, 10, 17920, **PHI, **LOOSE)),
    "smollm3-3b": ("SmolLM3", "CausalLM", sizes(128256, 2048, 36, 16, 4, 11008, **TIED)),
    "mamba-130m": ("Mamba", "CausalLM", {"vocab_size": 50280, "hidden_size": 768, "num_hidden_layers": 24}),
    "mamba-1.4b": ("Mamba", "CausalLM", {"vocab_size": 50280, "hidden_size": 2048, "num_hidden_layers": 48}),
    "mamba-2.8b": ("Mamba", "CausalLM", {"vocab_size": 50280, "hidden_size": 2560, "num_hidden_layers": 64}),
    "mamba2-1.3b": (
        "Mamba2", "CausalLM", {"vocab_size": 50288, "hidden_size": 2048, "num_hidden_layers": 48, **MAMBA_2},
    ),
    "falcon-mamba-7b": (
        "FalconMamba", "CausalLM", {"vocab_size": 65024, "hidden_size": 4096, "num_hidden_layers": 64, **FALCON},
    ),
    "modernbert-base": ("ModernBert", "MaskedLM", sizes(50368, 768, 22, 12, 12, 1152)),
    "modernbert-large": ("ModernBert", "MaskedLM", sizes(50368, 1024, 28, 16, 16, 2624)),
}  # fmt: skip
NEW = [name for name in CHOSEN if REGISTRY[name]["family"] != "Pythia"]


def count(name):
    """Return the parameters of a model, and those of its token embeddings; layers but the first are all of one size."""
    family, head, options = CONFIGURATIONS[name]
    config = getattr(transformers, f"{family}{'Text' if family == 'Gemma3' else ''}Config")
    counted = []
    for layers in (2, 3):
        with torch.device("meta"):
            model = getattr(transformers, f"{family}For{head}")(config(**{**options, "num_hidden_layers": layers}))
        counted.append(model.num_parameters())
    some, more = counted
    return some + (options["num_hidden_layers"] - 2) * (more - some), model.get_input_embeddings().weight.numel()


@pytest.mark.parametrize("name", NEW)
def test_parameters_follow_from_the_configuration(name):
    model = read_entry(Model, name, REGISTRY[name])
    parameters, embeddings = count(name)
    assert model.parameters == parameters
    assert model.embedding_parameters == (embeddings if model.architecture == "encoder" else 0)
    assert model.precision == ("bfloat16" if parameters >= 6e9 else "float32")


def test_state_space_models_share_nothing_in_a_plan():
    """As the engine runs those of the zoo (tests/core/scoring/test_scores.py)."""
    recurrent = [name for name, entry in REGISTRY.items() if entry.get("recurrent")]
    families = {row["family"] for row in zoo.MODELS.values() if row.get("recurrent")}
    assert recurrent == [name for name, entry in REGISTRY.items() if entry["family"] in families]
    for name in ("mamba-1.4b", "pythia-1.4b"):
        tokens = costs.scored_tokens(read_entry(Model, name, REGISTRY[name]), 4, [(100, 50)], 1.1)
        assert tokens == (20_000 if name in recurrent else 5500)


def test_every_family_stands_in_the_zoo():
    families = {row["family"]: row["architecture"] for row in zoo.MODELS.values()}
    for name in CHOSEN:
        assert families[REGISTRY[name]["family"]] == REGISTRY[name]["architecture"], name
