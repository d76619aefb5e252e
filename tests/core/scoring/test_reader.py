"""What a model reads of an instance: words of tokenizers of several kinds, and what a tokenizer must have."""

import pandas as pd
import pytest
import tokenizers
import transformers

from scripts.core.data.options import option_texts
from scripts.core.scoring.criteria import fill_options
from scripts.core.scoring.masked import masked_copies
from scripts.core.scoring.reader import Reader, check_lengths
from tests import zoo as builder
from tests.core.scoring.architectures import frame
from tests.refusals import refused


def read(tokenizer, text, option):
    instances = pd.DataFrame({"instance_id": ["a"], "text": [text], "options": [[option]]})
    return Reader(tokenizer, "encoder").read(option_texts(instances))


def _sentencepiece(splits: bool):
    """Return a tokenizer whose tokens begin with the space before them, with or without a split at spaces."""
    words = ["▁The", "▁cl", "erk", "▁saw", "▁them", ".", "▁"]
    vocabulary = [("<unk>", 0.0), ("<mask>", 0.0), *((word, -1.0) for word in words)]
    vocabulary += [(letter, -9.0) for letter in "Thclerksawm"]
    tokenizer = tokenizers.Tokenizer(tokenizers.models.Unigram(vocabulary, 0))
    if splits:
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    else:
        # Gemma's kind: nothing is left to split at.
        steps = tokenizers.normalizers
        tokenizer.normalizer = steps.Sequence([steps.Prepend("▁"), steps.Replace(" ", "▁")])
        tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(" ", "merged_with_previous")
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, mask_token="<mask>", unk_token="<unk>")


@pytest.mark.parametrize("splits", [True, False])
def test_words_end_at_spaces_where_a_tokenizer_makes_none(splits):
    tokenizer = _sentencepiece(splits)
    (text,) = read(tokenizer, "The clerk saw ___.", "them")
    assert tokenizer.convert_ids_to_tokens(text.ids) == ["▁The", "▁cl", "erk", "▁saw", "▁them", "."]
    assert (text.words - text.words[0]).tolist() == [0, 1, 1, 2, 3, 3]
    masked = [(copy == tokenizer.mask_token_id).sum() for copy, _ in masked_copies(text, tokenizer.mask_token_id)]
    assert masked == [1, 2, 1, 1, 2, 1]


def test_words_of_berts_tokenizer_are_its_own():
    tokenizer = builder.make_tokenizer("wordpiece")
    (text,) = read(tokenizer, "The clerk saw ___.", "baker")
    assert [None if word < 0 else word for word in text.words] == tokenizer("The clerk saw baker.").word_ids()
    assert text.words[-2] != text.words[-3]


@pytest.mark.parametrize(
    ("kind", "architecture", "named"),
    [("gpt2", "encoder", ["has no mask", "leave it out"]), ("llama", "encoder-decoder", ["mask", "<extra_id_0>"])],
)
def test_a_tokenizer_that_lacks_what_an_architecture_needs_is_refused(kind, architecture, named):
    with refused(*named):
        Reader(builder.make_tokenizer(kind), architecture)


def test_a_text_as_long_as_the_context_is_the_longest_that_is_taken():
    rows = option_texts(frame([("The clerk saw ___.", ["he"]), ("The clerk saw the cook and ___.", ["him"])]))
    texts = Reader(builder.make_tokenizer("gpt2"), "decoder").read(rows)
    longest = max(map(len, texts))
    check_lengths(rows, texts, longest)
    check_lengths(rows, texts, None)
    with refused(f"instance {1:016x}", f"{longest} tokens", f"the model takes {longest - 1}", "never truncated"):
        check_lengths(rows, texts, longest - 1)


def test_an_option_without_tokens_is_refused():
    reader = Reader(builder.make_tokenizer("gpt2"), "decoder", with_kinds=True)
    rows = fill_options(frame([("___ kept sneezing.", ["he"])]), "decoder", "label_loss").assign(filled="")
    with refused(f"instance {0:016x}", "option 'he'", "no token", "leave this model"):
        reader.read(rows)
