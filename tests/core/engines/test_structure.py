"""What token distributions refuse of a model."""

import pytest
import transformers

from scripts.core.engines import distributions, output_layer
from scripts.core.errors import UserError
from tests.core.engines import architectures

KINDS = {kind.name: kind for kind in architectures.KINDS}


def test_masks_cannot_be_filled_without_one():
    model, words = architectures.build(KINDS["marian"])
    with pytest.raises(UserError, match="has neither a mask nor <extra_id_0> as one token"):
        distributions.MaskFiller(model, words, tokens_per_batch=100, top_k=1)
    model, words = architectures.build(KINDS["nystromformer-512"])
    with pytest.raises(UserError, match="the model cannot be run on a short text"):
        distributions.MaskFiller(model, words, tokens_per_batch=100, top_k=1)


def test_a_model_without_an_output_layer_is_refused():
    sizes = {"num_latents": 4, "d_latents": 16, "d_model": 16, "num_self_attends_per_block": 1,
             "num_self_attention_heads": 2, "num_cross_attention_heads": 2, "max_position_embeddings": 32}  # fmt: skip
    model = transformers.PerceiverForMaskedLM(transformers.PerceiverConfig(**sizes))
    with pytest.raises(UserError, match="PerceiverForMaskedLM has no output layer over a vocabulary"):
        output_layer.SelectiveModel(model)
