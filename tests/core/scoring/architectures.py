"""Tiny random models of architectures that no study uses, for the question whether the engines score them right.

They are built in memory, with the zoo's tokenizers. Each stands for a way in which a score can come to depend on more
than its own text: windows, linear biases, recurrent states, mixtures of experts, positions that reach their end, layers
that look ahead. ``make architectures`` prints the whole table.
"""

import argparse
import functools
import itertools
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from scripts.core.data import options
from scripts.core.errors import UserError
from scripts.core.generation import check
from scripts.core.generation.generate import Generator
from scripts.core.models import loading
from scripts.core.scoring import packed
from tests import zoo
from tests.core.scoring.memory import Scores

SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
GROUPED = {**SIZES, "num_key_value_heads": 2}
POSITIONS = {"max_position_embeddings": 2048}
PLACE = torch.device(zoo.DEVICE).type
"""The key of the tests' device in the engines' tables of sizes."""


@dataclass(frozen=True)
class Kind:
    """An architecture and how to build it small.

    Attributes:
        tokenizer: A key of :data:`TOKENIZERS`.
        model, config: Classes of transformers.
        options: Of the configuration.
        refused: What a refusal says, for a model that must not be scored.
        half: Whether it can be run in half precision.
        scale: Weights are multiplied by it: as initialised, every option would get nearly the same score.
    """

    name: str
    architecture: str
    tokenizer: str
    model: str
    config: str
    options: dict
    refused: str | None = None
    half: bool = True
    scale: float = 6.0


TOKENIZERS = {
    "gpt2": zoo._gpt2,
    "llama": zoo._llama,
    "gemma": zoo._gemma,
    "wordpiece": zoo._wordpiece,
    "roberta": zoo._roberta,
    "bart": zoo._bart,
    "t5": zoo._t5,
}


def _decoder(name, model, config, options, tokenizer="llama", **more):
    return Kind(name, "decoder", tokenizer, model, config, {**POSITIONS, **options}, **more)


def _encoder(name, model, config, options, tokenizer="wordpiece", **more):
    return Kind(name, "encoder", tokenizer, model, config, {"max_position_embeddings": 514, **options}, **more)


def _pair(name, model, config, options, tokenizer="t5", **more):
    return Kind(name, "encoder-decoder", tokenizer, model, config, options, **more)


LINEAR = {"linear_num_value_heads": 4, "linear_num_key_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
WIDE = {"d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
        "decoder_attention_heads": 4, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}  # fmt: skip
T5 = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
MAMBA = {"hidden_size": 32, "num_hidden_layers": 2, "state_size": 8, "expand": 2}
LONGROPE = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [1.0, 4.0, 8.0, 16.0]}

KINDS = (
    _decoder("falcon", "FalconForCausalLM", "FalconConfig", {**SIZES, "alibi": False}),
    _decoder("falcon-alibi", "FalconForCausalLM", "FalconConfig", {**SIZES, "alibi": True}),
    Kind("mpt", "decoder", "gpt2", "MptForCausalLM", "MptConfig",
         {"d_model": 32, "n_heads": 4, "n_layers": 2, "max_seq_len": 2048}),
    _decoder("gpt-neo", "GPTNeoForCausalLM", "GPTNeoConfig",
             {"hidden_size": 32, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]],
              "window_size": 256}, "gpt2"),
    _decoder("gpt-1", "OpenAIGPTLMHeadModel", "OpenAIGPTConfig",
             {"n_positions": 2048, "n_embd": 32, "n_layer": 2, "n_head": 4}, "gpt2"),
    _decoder("gpt-bigcode", "GPTBigCodeForCausalLM", "GPTBigCodeConfig",
             {"n_positions": 2048, "n_embd": 32, "n_layer": 2, "n_head": 4}, "gpt2"),
    _decoder("codegen", "CodeGenForCausalLM", "CodeGenConfig",
             {"n_positions": 2048, "n_embd": 32, "n_layer": 2, "n_head": 4, "rotary_dim": 4}, "gpt2"),
    _decoder("olmo", "OlmoForCausalLM", "OlmoConfig", GROUPED),
    _decoder("olmo2", "Olmo2ForCausalLM", "Olmo2Config", GROUPED),
    _decoder("olmoe", "OlmoeForCausalLM", "OlmoeConfig", {**GROUPED, **EXPERTS}),
    _decoder("phi", "PhiForCausalLM", "PhiConfig", SIZES),
    _decoder("phi-3", "Phi3ForCausalLM", "Phi3Config", {**GROUPED, "pad_token_id": 0, "sliding_window": 2047}),
    _decoder("phi-3-longrope", "Phi3ForCausalLM", "Phi3Config",
             {**GROUPED, "pad_token_id": 0, "rope_scaling": LONGROPE, "original_max_position_embeddings": 100}),
    _decoder("mistral", "MistralForCausalLM", "MistralConfig", {**GROUPED, "sliding_window": 4096}),
    _decoder("mistral-window", "MistralForCausalLM", "MistralConfig", {**GROUPED, "sliding_window": 100}),
    _decoder("minimax", "MiniMaxForCausalLM", "MiniMaxConfig",
             {**GROUPED, "head_dim": 8, "num_local_experts": 2, "num_experts_per_tok": 1, "block_size": 32,
              "layer_types": ["linear_attention", "full_attention"]}, scale=3.0),
    _decoder("mixtral", "MixtralForCausalLM", "MixtralConfig", {**GROUPED, "num_local_experts": 4}, scale=4.0),
    _decoder("qwen3", "Qwen3ForCausalLM", "Qwen3Config", {**GROUPED, "head_dim": 8}),
    _decoder("qwen3-moe", "Qwen3MoeForCausalLM", "Qwen3MoeConfig", {**GROUPED, **EXPERTS, "head_dim": 8}),
    _decoder("qwen3-next", "Qwen3NextForCausalLM", "Qwen3NextConfig",
             {**GROUPED, **EXPERTS, **LINEAR, "head_dim": 8, "shared_expert_intermediate_size": 32,
              "layer_types": ["linear_attention", "full_attention"]}),
    _decoder("gemma-2", "Gemma2ForCausalLM", "Gemma2Config",
             {**GROUPED, "head_dim": 8, "sliding_window": 4096}, "gemma"),
    _decoder("gemma-3", "Gemma3ForCausalLM", "Gemma3TextConfig",
             {**GROUPED, "head_dim": 8, "sliding_window": 512,
              "layer_types": ["sliding_attention", "full_attention"]}, "gemma"),
    _decoder("gpt-oss", "GptOssForCausalLM", "GptOssConfig",
             {**GROUPED, "head_dim": 8, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 128}),
    _decoder("llama-4", "Llama4ForCausalLM", "Llama4TextConfig",
             {**GROUPED, "intermediate_size_mlp": 64, "num_local_experts": 2, "head_dim": 8,
              "attention_chunk_size": 8192}),
    _decoder("stablelm", "StableLmForCausalLM", "StableLmConfig", GROUPED),
    _decoder("starcoder2", "Starcoder2ForCausalLM", "Starcoder2Config", {**GROUPED, "sliding_window": 4096}),
    _decoder("cohere", "CohereForCausalLM", "CohereConfig", {**GROUPED, "logit_scale": 1.0}),
    _decoder("granite", "GraniteForCausalLM", "GraniteConfig", GROUPED),
    _decoder("nemotron", "NemotronForCausalLM", "NemotronConfig", GROUPED),
    _decoder("smollm3", "SmolLM3ForCausalLM", "SmolLM3Config", {**GROUPED, "pad_token_id": 0}),
    _decoder("xglm", "XGLMForCausalLM", "XGLMConfig",
             {"d_model": 32, "num_layers": 2, "attention_heads": 4, "ffn_dim": 64}),
    _decoder("biogpt", "BioGptForCausalLM", "BioGptConfig", SIZES, "gpt2"),
    _decoder("doge", "DogeForCausalLM", "DogeConfig", GROUPED),
    Kind("mamba", "decoder", "llama", "MambaForCausalLM", "MambaConfig", MAMBA, scale=2.0),
    Kind("mamba-2", "decoder", "llama", "Mamba2ForCausalLM", "Mamba2Config",
         {**MAMBA, "num_heads": 8, "head_dim": 8, "n_groups": 1, "chunk_size": 32}, scale=2.0),
    _decoder("recurrent-gemma", "RecurrentGemmaForCausalLM", "RecurrentGemmaConfig",
             {**GROUPED, "num_hidden_layers": 3, "lru_width": 32, "attention_window_size": 2048}, "gemma", scale=3.0),
    Kind("rwkv", "decoder", "gpt2", "RwkvForCausalLM", "RwkvConfig",
         {"hidden_size": 32, "num_hidden_layers": 2, "attention_hidden_size": 32, "context_length": 2048}),
    _decoder("jamba", "JambaForCausalLM", "JambaConfig",
             {**GROUPED, "num_experts": 2, "attn_layer_period": 2, "attn_layer_offset": 1, "expert_layer_period": 2,
              "expert_layer_offset": 1, "use_mamba_kernels": False, "mamba_d_state": 8}, scale=3.0),
    _decoder("lfm2", "Lfm2ForCausalLM", "Lfm2Config", {**GROUPED, "layer_types": ["conv", "full_attention"]}),
    _decoder("falcon-h1", "FalconH1ForCausalLM", "FalconH1Config",
             {**GROUPED, "mamba_d_ssm": 32, "mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 8,
              "mamba_chunk_size": 32}, scale=6.0),
    _decoder("olmo-3", "Olmo3ForCausalLM", "Olmo3Config",
             {**GROUPED, "sliding_window": 100, "layer_types": ["sliding_attention", "full_attention"]}),
    _decoder("olmo-hybrid", "OlmoHybridForCausalLM", "OlmoHybridConfig",
             {**GROUPED, **LINEAR, "linear_num_key_heads": 4, "layer_types": ["linear_attention", "full_attention"]}),
    _decoder("qwen3.5", "Qwen3_5ForCausalLM", "Qwen3_5TextConfig",
             {**GROUPED, **LINEAR, "head_dim": 8, "layer_types": ["linear_attention", "full_attention"]}),
    _decoder("qwen3.5-moe", "Qwen3_5MoeForCausalLM", "Qwen3_5MoeTextConfig",
             {**GROUPED, **EXPERTS, **LINEAR, "head_dim": 8, "shared_expert_intermediate_size": 32,
              "layer_types": ["linear_attention", "full_attention"]}),
    _decoder("gemma-3n", "Gemma3nForCausalLM", "Gemma3nTextConfig",
             {**GROUPED, "head_dim": 8, "num_hidden_layers": 4, "num_kv_shared_layers": 2,
              "intermediate_size": [64] * 4, "hidden_size_per_layer_input": 8,
              "vocab_size_per_layer_input": 100, "laurel_rank": 4,
              "altup_num_inputs": 2, "activation_sparsity_pattern": [0.0] * 4,
              "layer_types": ["sliding_attention", "full_attention"] * 2}, "gemma"),
    _decoder("gemma-4", "Gemma4ForCausalLM", "Gemma4TextConfig",
             {**GROUPED, "head_dim": 8, "global_head_dim": 8, "hidden_size_per_layer_input": 8,
              "vocab_size_per_layer_input": 600, "layer_types": ["sliding_attention", "full_attention"]}, "gemma"),
    _decoder("nemotron-h", "NemotronHForCausalLM", "NemotronHConfig",
             {**GROUPED, "head_dim": 8, "mamba_num_heads": 8, "mamba_head_dim": 8, "n_groups": 2, "ssm_state_size": 8,
              "chunk_size": 32, "hybrid_override_pattern": "M*", "layers_block_type": ["mamba", "attention"]},
             scale=3.0),
    _decoder("bamba", "BambaForCausalLM", "BambaConfig",
             {**GROUPED, "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8,
              "mamba_chunk_size": 32, "attn_layer_indices": [1]}, scale=3.0),
    _decoder("granite-4-hybrid", "GraniteMoeHybridForCausalLM", "GraniteMoeHybridConfig",
             {**GROUPED, "mamba_n_heads": 8, "mamba_d_head": 8, "mamba_n_groups": 1, "mamba_d_state": 8,
              "mamba_chunk_size": 32, "shared_intermediate_size": 32, "num_local_experts": 2, "num_experts_per_tok": 1,
              "layer_types": ["mamba", "attention"]}, scale=3.0),
    _decoder("zamba-2", "Zamba2ForCausalLM", "Zamba2Config",
             {**GROUPED, "mamba_d_state": 8, "mamba_ngroups": 1, "n_mamba_heads": 8, "mamba_headdim": 8,
              "chunk_size": 32, "num_mem_blocks": 1, "layers_block_type": ["mamba", "hybrid"],
              "use_mamba_kernels": False}, scale=3.0),
    _decoder("kimi-linear", "KimiLinearForCausalLM", "KimiLinearConfig",
             {**GROUPED, "num_key_value_heads": 4, "kv_lora_rank": 16, "qk_rope_head_dim": 8, "qk_nope_head_dim": 8,
              "v_head_dim": 8, "linear_head_dim": 8, "linear_num_heads": 4, "num_experts": 4, "num_experts_per_tok": 2,
              "moe_intermediate_size": 32, "layer_types": ["linear_attention", "full_attention"]}, scale=3.0),
    _decoder("deepseek-v3", "DeepseekV3ForCausalLM", "DeepseekV3Config",
             {**SIZES, "num_key_value_heads": 4, "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8,
              "qk_nope_head_dim": 8, "v_head_dim": 8, "n_routed_experts": 4, "n_shared_experts": 1, "n_group": 1,
              "topk_group": 1, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "first_k_dense_replace": 1}),
    _decoder("glm-4-moe", "Glm4MoeForCausalLM", "Glm4MoeConfig",
             {**GROUPED, "head_dim": 8, "n_routed_experts": 4, "n_shared_experts": 1, "n_group": 1, "topk_group": 1,
              "num_experts_per_tok": 2, "moe_intermediate_size": 32, "first_k_dense_replace": 1}),
    _decoder("lfm2-moe", "Lfm2MoeForCausalLM", "Lfm2MoeConfig",
             {**GROUPED, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32, "num_dense_layers": 1,
              "layer_types": ["conv", "full_attention"]}),
    _decoder("ministral-3", "Ministral3ForCausalLM", "Ministral3Config", {**GROUPED, "head_dim": 8}),
    _decoder("modernbert-decoder", "ModernBertDecoderForCausalLM", "ModernBertDecoderConfig",
             {**SIZES, "pad_token_id": 0, "local_attention": 64,
              "layer_types": ["sliding_attention", "full_attention"]}),
    _encoder("eurobert", "EuroBertForMaskedLM", "EuroBertConfig", {**GROUPED, **POSITIONS}, "roberta"),
    Kind("xlnet", "decoder", "llama", "XLNetLMHeadModel", "XLNetConfig",
         {"d_model": 32, "n_layer": 2, "n_head": 4, "d_inner": 64}, refused="a later token changes"),
    _decoder("bert-as-decoder", "BertLMHeadModel", "BertConfig", SIZES, "wordpiece", refused="a later token changes"),
    _encoder("xlm-roberta", "XLMRobertaForMaskedLM", "XLMRobertaConfig", SIZES, "roberta"),
    _encoder("camembert", "CamembertForMaskedLM", "CamembertConfig", SIZES, "roberta"),
    _encoder("electra", "ElectraForMaskedLM", "ElectraConfig", {**SIZES, "embedding_size": 16}),
    _encoder("deberta", "DebertaForMaskedLM", "DebertaConfig",
             {**SIZES, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}),
    _encoder("deberta-v2", "DebertaV2ForMaskedLM", "DebertaV2Config",
             {**SIZES, "relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 64,
              "position_biased_input": False}),
    _encoder("distilbert", "DistilBertForMaskedLM", "DistilBertConfig",
             {"dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64}),
    _encoder("longformer", "LongformerForMaskedLM", "LongformerConfig", {**SIZES, "attention_window": 64}, "roberta"),
    _encoder("mpnet", "MPNetForMaskedLM", "MPNetConfig", SIZES, "roberta"),
    _encoder("big-bird", "BigBirdForMaskedLM", "BigBirdConfig", SIZES),
    _encoder("roformer", "RoFormerForMaskedLM", "RoFormerConfig", {**SIZES, "embedding_size": 32}),
    _encoder("megatron-bert", "MegatronBertForMaskedLM", "MegatronBertConfig", SIZES),
    _encoder("convbert", "ConvBertForMaskedLM", "ConvBertConfig", {**SIZES, "embedding_size": 16}),
    _encoder("ernie", "ErnieForMaskedLM", "ErnieConfig", SIZES),
    _encoder("fnet", "FNetForMaskedLM", "FNetConfig",
             {k: v for k, v in SIZES.items() if k != "num_attention_heads"}, half=False),
    _encoder("nystromformer", "NystromformerForMaskedLM", "NystromformerConfig", SIZES),
    # Its landmarks divide texts of one length only.
    _encoder("nystromformer-512", "NystromformerForMaskedLM", "NystromformerConfig",
             {**SIZES, "segment_means_seq_len": 512}, refused="cannot be run"),
    _pair("mt5", "MT5ForConditionalGeneration", "MT5Config", {**T5, "feed_forward_proj": "gated-gelu"}, scale=1.5),
    _pair("long-t5", "LongT5ForConditionalGeneration", "LongT5Config", T5, scale=1.5),
    _pair("switch-transformers", "SwitchTransformersForConditionalGeneration", "SwitchTransformersConfig",
          {**T5, "num_experts": 4, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1}, scale=1.5),
    _pair("led", "LEDForConditionalGeneration", "LEDConfig",
          {**WIDE, "attention_window": 64, "max_encoder_position_embeddings": 1024,
           "max_decoder_position_embeddings": 512}, "bart"),
    _pair("mbart", "MBartForConditionalGeneration", "MBartConfig", {**WIDE, **POSITIONS}, "bart"),
    _pair("bigbird-pegasus", "BigBirdPegasusForConditionalGeneration", "BigBirdPegasusConfig",
          {**WIDE, **POSITIONS}, "bart"),
    _pair("pegasus", "PegasusForConditionalGeneration", "PegasusConfig", {**WIDE, **POSITIONS}, "bart"),
    _pair("m2m-100", "M2M100ForConditionalGeneration", "M2M100Config", {**WIDE, **POSITIONS}, "bart"),
    _pair("blenderbot", "BlenderbotForConditionalGeneration", "BlenderbotConfig", {**WIDE, **POSITIONS}, "bart"),
    _pair("nllb-moe", "NllbMoeForConditionalGeneration", "NllbMoeConfig",
          {**WIDE, **POSITIONS, "num_experts": 4, "expert_capacity": 64}, "bart"),
    _pair("marian", "MarianMTModel", "MarianConfig", {**WIDE, **POSITIONS}, "llama", refused="neither a mask nor"),
)  # fmt: skip


@functools.cache
def tokenizer(name):
    """Return a tokenizer of the zoo."""
    with tempfile.TemporaryDirectory() as folder:
        return TOKENIZERS[name](Path(folder))


def build(kind, **changed):
    """Return a float32 model of a kind on the tests' device, and its tokenizer.

    Args:
        kind: A :class:`Kind`.
        **changed: Options of the configuration that differ from the kind's.
    """
    import transformers

    words = tokenizer(kind.tokenizer)
    special = {
        "vocab_size": len(words),
        "bos_token_id": words.bos_token_id if words.bos_token_id is not None else 0,
        "eos_token_id": words.eos_token_id if words.eos_token_id is not None else 0,
        "pad_token_id": words.pad_token_id if words.pad_token_id is not None else 0,
    }
    if kind.architecture == "encoder-decoder":
        special["decoder_start_token_id"] = special["pad_token_id"]
    options = {**special, **kind.options, **changed}
    if kind.architecture == "decoder" and "pad_token_id" not in kind.options:
        # Some keep the vector of their padding token at zero.
        options["pad_token_id"] = None
    torch.manual_seed(20240601)
    model = getattr(transformers, kind.model)(getattr(transformers, kind.config)(**options))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.mul_(kind.scale)
    return loading.keep_attention_type(model.eval().to(zoo.DEVICE)), words


NEW = 12
"""Tokens that are written after a prompt."""

FORMS = [["he", "she", "they", "xe"], ["his", "her", "their", "xyrs"], ["him", "her", "them", "xem"]]
TASKS = (
    "The {0} said that ___ would be late for the meeting with the {1}.",
    "The {1} knew that the {0} had left ___ umbrella at the station.",
    "The {1} told the {0} that the rain would keep ___ at home.",
)
PEOPLE = (("baker", "client"), ("clerk", "passenger"), ("cook", "guest"), ("teacher", "student"))
ASIDES = (
    "The {1} had a long day behind them.",
    "It was raining and the bus was late, so the {1} took the train to their sister.",
    "The {1} had bought a coat for themself in the spring, and it was too small by the autumn.",
    "They had never liked the old garden wall.",
    "On Sundays the {1} went for a walk with their dog, whatever the weather was.",
)


def instances(count, asides=(0, 2, 5)):
    """Return instances whose texts have sentences in between, and begin alike as those of a study do."""
    texts = []
    for (first, second), number, (task, forms) in itertools.product(
        PEOPLE, asides, list(zip(TASKS, FORMS, strict=True))
    ):
        for start in range(len(ASIDES)):
            between = [ASIDES[(start + i) % len(ASIDES)] for i in range(number)]
            opening = f"The {first} was tired because {forms[0]} had slept badly."
            text = " ".join([opening, *between, task]).format(first, second)
            texts.append((text, forms))
    distinct = list({text: (text, forms) for text, forms in texts}.values())
    step = max(1, len(distinct) // count)
    chosen = distinct[::step][:count]
    return pd.DataFrame(
        {
            "instance_id": [f"{i:016x}" for i in range(len(chosen))],
            "text": [text for text, _ in chosen],
            "options": [forms for _, forms in chosen],
        }
    )


@torch.inference_mode()
def plain(model, words, architecture, row):
    """Return the score of one text alone, in nats; shares no code with the engines."""
    encoding = words(row.text)
    ids = torch.tensor(encoding["input_ids"], device=model.device)
    if architecture == "encoder-decoder":
        mask = words.mask_token
        source = row.masked.replace("___", mask or "<extra_id_0>")
        target = row.text if mask else f"<extra_id_0> {row.filled} <extra_id_1>"
        targets = torch.tensor(words(target)["input_ids"], device=model.device)
        read = torch.tensor([words(source)["input_ids"]], device=model.device)
        logits = model(input_ids=read, labels=targets[None]).logits[0]
    elif architecture == "decoder":
        logits, targets = model(input_ids=ids[None]).logits[0, :-1], ids[1:]
    else:
        places = [p for p, w in enumerate(encoding.word_ids()) if w is not None and ids[p] != words.mask_token_id]
        copies = ids.repeat(len(places), 1)
        for copy, place in zip(copies, places, strict=True):
            word = encoding.word_ids()[place]
            copy[[p for p in range(place, len(ids)) if encoding.word_ids()[p] == word]] = words.mask_token_id
        logits, targets = model(input_ids=copies).logits[range(len(places)), places], ids[places]
    return logits.double().log_softmax(-1).gather(1, targets[:, None]).sum().item()


def looped(model, words, kind, rows):
    """Return the plain scores of rows, shape (rows,); None for a model that must not be scored."""
    if kind.refused:
        return None
    return np.array([plain(model, words, kind.architecture, row) for row in rows.itertuples()])


EXACT = {}
"""Plain scores in float32 by kind, changes and texts: the same weights are measured in each precision."""


def looped_in_float32(model, words, kind, rows, changed):
    """Return what :func:`looped` does of a float32 model, computed once for each kind and the same changes and rows."""
    key = (repr(kind), repr(sorted(changed.items())), *rows.text, *rows.masked)
    if key not in EXACT:
        EXACT[key] = looped(model, words, kind, rows)
    return EXACT[key]


def measure(
    kind: Kind, precision: str, pack_tokens: int, some: pd.DataFrame, engine: str = "packed", **changed
) -> dict:
    """Score instances with an engine and in a plain loop.

    Args:
        precision: One of "float32", "bfloat16".
        pack_tokens: Tokens of a packed sequence.
        some: Instances.
        **changed: Options of the configuration that differ from the kind's.

    Returns:
        ``way``; ``difference``, the largest to the plain loop (nats); ``changed``, instances for which another option
        scores highest than in the plain loop; ``rounding``, how far the plain loop is from the same model in float32
        (nats); ``seconds``. A model that is refused has ``way`` alone, the refusal.
    """
    model, words = build(kind, **changed)
    rows = options.option_texts(some)
    rounding = 0.0
    if precision != "float32":
        exact = looped_in_float32(model, words, kind, rows, changed)
        model = model.to(getattr(torch, precision))
    before = packed.PACK_TOKENS[PLACE]
    packed.PACK_TOKENS[PLACE] = pack_tokens
    started = time.perf_counter()
    try:
        made = Scores((model, words, kind.architecture), some, engine=engine)
    except UserError as error:
        return {"way": f"refused: {error}"}
    finally:
        packed.PACK_TOKENS[PLACE] = before
    seconds, scores = time.perf_counter() - started, made.table
    if precision == "float32":
        expected = looped_in_float32(model, words, kind, rows, changed)
    else:
        expected = looped(model, words, kind, rows)
        rounding = float(np.abs(expected - exact).max())
    found, right = options.predict(scores), options.predict(scores.assign(log_probability=expected))
    different = found.option_index != right.option_index
    return {
        "way": made.check["way"],
        "difference": float(np.abs(scores.log_probability - expected).max()),
        "changed": int(different.sum()),
        "margin": float(right.margin[different].max()) if different.any() else 0.0,
        "rounding": rounding,
        "seconds": seconds,
    }


@torch.inference_mode()
def written(model, ids: list[int], pair: bool) -> list[int]:
    """Return the tokens that a model finds most probable after a prompt, each from a pass over all before it."""
    tokens = []
    for _ in range(NEW):
        if pair:
            start = [model.config.decoder_start_token_id, *tokens]
            read = torch.tensor([ids], device=model.device)
            logits = model(input_ids=read, decoder_input_ids=torch.tensor([start], device=model.device)).logits
        else:
            logits = model(input_ids=torch.tensor([[*ids, *tokens]], device=model.device)).logits
        tokens.append(int(logits[0, -1].argmax()))
    return tokens


def prompts() -> list[str]:
    """Return texts that begin alike and a short one."""
    texts = instances(40).text.str.replace("___", "they").tolist()
    return [texts[0], texts[0][:30], texts[5], texts[17], f"{texts[30]} And then", f"{texts[30]} So", "The clerk"]


def prompted(kind: Kind, **changed) -> dict:
    """Continue :data:`NEW` tokens after :func:`prompts`, together and in a plain loop.

    Args:
        kind: A decoder or an encoder-decoder.
        **changed: Options of the configuration that differ from the kind's.

    Returns:
        ``way``, one of :data:`scripts.core.generation.generate.BATCHING_MODES` or the refusal; ``changed``, how many of
        ``prompts`` continuations are not those of the plain loop.
    """
    model, words = build(kind, **changed)
    model.generation_config.eos_token_id = words.eos_token_id = None
    generator, some = Generator(model, words, NEW, tokens_per_batch=4096), prompts()
    try:
        check.choose_way(generator, generator.tokenize(some))
    except UserError as error:
        return {"way": f"refused: {error}"}
    found = [list(answer.tokens) for answer in generator.answer(some)]
    expected = [written(model, ids, kind.architecture != "decoder") for ids in generator.tokenize(some)]
    wrong = sum(a != b for a, b in zip(found, expected, strict=True))
    return {"way": generator.way, "changed": wrong, "prompts": len(some)}


def main():
    """Print the table of all kinds."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--instances", type=int, default=24)
    parser.add_argument("--engine", default="packed", choices=("packed", "minicons"))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    # A pseudo-log-likelihood takes a forward pass for each token: fewer instances.
    chosen = {True: instances(max(1, given.instances // 4)), False: instances(given.instances)}
    print("| architecture | kind | scored in | float32: nats | decisions | bfloat16: nats | rounds by | decisions | "
          "prompted | answers |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        if not given.names or kind.name in given.names:
            print(summary(kind, chosen[kind.architecture == "encoder"], given.engine), flush=True)


def summary(kind: Kind, some: pd.DataFrame, engine: str) -> str:
    """Return a row of the table: what differs from the plain loop, at most, over two sizes of packed sequences."""
    cells = [kind.name, kind.architecture]
    for precision in ("float32", "bfloat16"):
        packs = (256, 1024) if kind.architecture == "decoder" else (256,)
        rows = [measure(kind, precision, pack_tokens, some, engine) for pack_tokens in packs]
        refused = next((row["way"] for row in rows if "difference" not in row), None)
        if precision == "float32":
            cells.append(", ".join(dict.fromkeys("refused" if refused else row["way"] for row in rows)))
        if refused:
            cells += [""] * (2 if precision == "float32" else 3)
            continue
        changed = max(row["changed"] for row in rows)
        cells.append(f"{max(row['difference'] for row in rows):.1e}")
        cells += [f"{rows[0]['rounding']:.2g}"] * (precision == "bfloat16")
        cells.append(f"{changed} of {len(some)}")
    answers = prompted(kind) if kind.architecture != "encoder" else {"way": ""}
    cells.append(answers["way"].partition(":")[0])
    cells.append(f"{answers['changed']} of {answers['prompts']}" if len(answers) > 1 else "")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
