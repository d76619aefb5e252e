"""Answers agree with a plain loop, whatever is in the batch, on every generating architecture of the zoo."""

import numpy as np
import pytest
import torch

from scripts.core import config
from scripts.core.engines import models
from scripts.core.generation import check
from scripts.core.generation.generate import Generator, end_tokens
from tests import zoo as builder

NAMES = (
    "tiny-opt", "tiny-gpt-neox", "tiny-llama", "tiny-gpt2", "tiny-gpt-j", "tiny-bloom", "tiny-qwen", "tiny-gemma",
    "tiny-bart", "tiny-t5", "tiny-flan-t5", "tiny-ul2", "tiny-llama-3", "tiny-qwen3", "tiny-gemma-3", "tiny-olmo2",
    "tiny-olmo3", "tiny-mistral", "tiny-phi-4", "tiny-smollm3", "tiny-mamba", "tiny-mamba-2", "tiny-falcon-mamba",
)  # fmt: skip
PROMPTS = [
    "The baker was late.",
    "What pronoun fits?",
    "The clerk met the client, who was tired. The client had found an umbrella. What should fill the blank?",
    "Fill in the blank with a pronoun.\n\nThe baker said that ___ would need it.",
    "The clerk",
    "The manager was glad because the bus was early, the rain had stopped and the shoes were dry again.",
    "A",
]
BEGUN = "Please read the following passage and say who was late that day:"
ALIKE = [
    *(f"{BEGUN} {rest}" for rest in ("In spring, the baker was.", "In spring, the baker had been late.", "The clerk")),
    *(f"{BEGUN.replace('late', 'glad')} in spring, the {rest}" for rest in ("cook", "clerk had", "cook had been")),
    "Please read the following passage.",
    "Please read the following passage and tell the client.",
]
NEW = 12


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    entries = config.load_yaml(builder.build(tmp_path_factory.mktemp("zoo"), NAMES))["models"]
    return {
        name: models.load(name, entry, models.locate(name, entry), builder.DEVICE) for name, entry in entries.items()
    }


def plain_loop(model, tokenizer, prompt, steps=NEW):
    """Continue one prompt token by token without cache, mask or padding; return tokens and each step's logits."""
    ids = torch.tensor([tokenizer(prompt)["input_ids"]], device=model.device)
    written, logits = [], []
    with torch.inference_mode():
        while len(written) < steps:
            if model.config.is_encoder_decoder:
                start = [model.config.decoder_start_token_id, *written]
                output = model(input_ids=ids, decoder_input_ids=torch.tensor([start], device=model.device))
            else:
                new = torch.tensor([written], dtype=torch.long, device=model.device)
                output = model(input_ids=torch.cat([ids, new], dim=1))
            logits.append(output.logits[0, -1].cpu())
            written.append(int(logits[-1].argmax()))
            if written[-1] in end_tokens(model, tokenizer):
                break
    return written, torch.stack(logits)


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_a_plain_loop_alone_and_in_batches(loaded, name):
    model, tokenizer = loaded[name]
    generator = Generator(model, tokenizer, NEW, top_k=3)
    ids = generator.tokenize([*PROMPTS, *ALIKE])
    print(name, check.choose_way(generator, ids))
    ends = end_tokens(model, tokenizer)
    expected = [plain_loop(model, tokenizer, prompt) for prompt in [*PROMPTS, *ALIKE]]
    for budget in (1, 300, 4096):
        generator.batch_tokens = budget
        for (written, logits), result in zip(expected, generator.answer([*PROMPTS, *ALIKE]), strict=True):
            assert result.finished == (written[-1] in ends)
            assert list(result.tokens) == (written[:-1] if result.finished else written)
            assert result.text == tokenizer.decode(
                result.tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False
            )
            assert len(result.top) == len(written)
            for token, (best, values), truth in zip(written, result.top, logits.double().softmax(-1), strict=True):
                assert best[0] == token
                np.testing.assert_allclose(values, truth[torch.tensor(best)], atol=1e-5)
                np.testing.assert_allclose(values, truth.topk(3).values, atol=1e-5)
