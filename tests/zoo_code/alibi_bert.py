"""A tiny encoder with code of its own and linear attention biases (ALiBi), as MosaicBERT has; for the tests' zoo.

It stands for every checkpoint that comes with its own modelling code: transformers loads it with ``trust_remote_code``.
"""

import torch
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput, MaskedLMOutput


class AlibiBertConfig(PretrainedConfig):
    """Sizes of the tiny encoder."""

    model_type = "alibi-bert"

    def __init__(self, vocab_size=600, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, **options):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        super().__init__(**{"tie_word_embeddings": False, **options})


class Layer(torch.nn.Module):
    """One transformer layer; the further away a token, the less it is attended to."""

    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.qkv = torch.nn.Linear(width, 3 * width)
        self.out = torch.nn.Linear(width, width)
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(width) for _ in range(2))

    def forward(self, hidden, bias):
        """Return the next hidden states, of the same shape (rows, positions, width)."""
        rows, length, width = hidden.shape
        query, key, value = (
            part.view(rows, length, self.heads, -1).transpose(1, 2) for part in self.qkv(hidden).chunk(3, dim=-1)
        )
        mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        hidden = self.norms[0](hidden + self.out(mixed.transpose(1, 2).reshape(rows, length, width)))
        return self.norms[1](hidden + self.down(torch.nn.functional.gelu(self.up(hidden))))


class AlibiBertBase(PreTrainedModel):
    """What the tiny encoder's classes share."""

    config_class = AlibiBertConfig
    base_model_prefix = "bert"

    def _init_weights(self, module):
        if isinstance(module, (torch.nn.Linear, torch.nn.Embedding)):
            module.weight.data.normal_(std=0.02)


class AlibiBertModel(AlibiBertBase):
    """Token embeddings without positions, and the layers."""

    def __init__(self, config):
        super().__init__(config)
        self.embeddings = torch.nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = torch.nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.post_init()

    def get_input_embeddings(self):
        """Return the token embeddings."""
        return self.embeddings

    def forward(self, input_ids, attention_mask=None):
        """Return hidden states of shape (rows, positions, width)."""
        hidden = self.embeddings(input_ids)
        places = torch.arange(input_ids.shape[1], device=hidden.device)
        distance = (places[:, None] - places[None]).abs()
        slopes = 2.0 ** -torch.arange(1, self.config.num_attention_heads + 1, device=hidden.device)
        bias = (-slopes[:, None, None] * distance).to(hidden.dtype)[None]
        if attention_mask is not None:
            hidden_places = (attention_mask == 0)[:, None, None, :]
            bias = bias.masked_fill(hidden_places, torch.finfo(hidden.dtype).min)
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return BaseModelOutput(last_hidden_state=hidden)


class AlibiBertForMaskedLM(AlibiBertBase):
    """The tiny encoder with an output layer."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = AlibiBertModel(config)
        self.decoder = torch.nn.Linear(config.hidden_size, config.vocab_size)
        self.post_init()

    def get_output_embeddings(self):
        """Return the output layer."""
        return self.decoder

    def forward(self, input_ids, attention_mask=None):
        """Return logits of shape (rows, positions, vocabulary)."""
        hidden = self.bert(input_ids, attention_mask=attention_mask).last_hidden_state
        return MaskedLMOutput(logits=self.decoder(hidden))
