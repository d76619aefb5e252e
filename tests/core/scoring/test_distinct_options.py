"""What a model cannot tell apart is counted, and refused where it is much."""

import re

import numpy as np
import pandas as pd
import pytest

from scripts.core.data.options import option_texts
from scripts.core.scoring.distinct_options import LIMIT, DistinctOptions
from scripts.core.scoring.reader import Reader
from tests.refusals import refused

WORDS = ["the", "clerk", "said", "that", "he", "she", "would", "pay", "a", ".", "they", "him", "her"]


class Tokenizer:
    """Splits at blanks; what is not in ``words`` is token 0."""

    is_fast, mask_token, mask_token_id, all_special_ids = True, "[M]", None, [0]
    bos_token_id = eos_token_id = pad_token_id = None

    def __init__(self, words, unknown=0):
        self.numbers = {word: number for number, word in enumerate(words, 1)}
        self.unk_token_id = unknown

    def __call__(self, texts, **_):
        if isinstance(texts, str):
            return {"input_ids": self(texts.split("\n"))["input_ids"][0]}
        pieces = [list(re.finditer(r"\w+|\.", text)) for text in texts]
        return {"input_ids": [[self.numbers.get(word[0], 0) for word in found] for found in pieces]}


def rows_of(options, count=20, text="the clerk said that ___ would pay ."):
    frame = pd.DataFrame({"instance_id": [f"{n}" for n in range(count)], "text": text, "options": [options] * count})
    return option_texts(frame)


def distinct(words=WORDS, total=20, architecture="decoder"):
    return DistinctOptions("mine", Reader(Tokenizer(words), architecture), total)


def read(found, rows):
    found.count_unread(rows, found.reader.read(rows))


@pytest.mark.parametrize("architecture", ["decoder", "encoder-decoder"])
def test_what_is_known_is_not_counted(architecture):
    found = distinct(architecture=architecture)
    read(found, rows_of(["he", "she", "they"]))
    assert found.counts == {"unknown_instances": 0, "unread_instances": 0, "tied_instances": 0}


@pytest.mark.parametrize("options", [["he", "xe"], ["xe", "fae"], ["he", "she", "fae"]])
def test_pronouns_that_the_tokenizer_does_not_know_are_refused(options):
    with refused("model mine", "in 20 or more of 20", "does not know an option", "leave this model out"):
        read(distinct(), rows_of(options))


def test_options_that_are_read_alike_are_refused_without_an_unknown_token():
    """As by a tokenizer that strips accents."""
    found = distinct()
    found.reader.tokenizer.numbers["él"] = found.reader.tokenizer.numbers["he"]
    with refused("reads two alike", "the first is 0, option 'él'"):
        read(found, rows_of(["él", "he"]))


def test_a_few_are_counted_and_words_around_the_slot_are_no_reason_to_refuse():
    found = distinct(total=200)
    read(found, rows_of(["he", "she"], count=180, text="the zorp said that ___ would pay ."))
    read(found, rows_of(["he", "xe"], count=20))
    assert found.counts == {"unknown_instances": 200, "unread_instances": 20, "tied_instances": 0}
    with refused("in 21 or more of 200"):
        read(found, rows_of(["he", "xe"], count=1))


def test_an_option_with_and_without_a_capital_is_one_option():
    rows = rows_of(["he", "she"])
    found = distinct()
    read(found, pd.concat([rows, rows], ignore_index=True))
    assert found.counts["unread_instances"] == 0


def test_a_tokenizer_of_bytes_has_no_unknown_token():
    tokenizer = Tokenizer(WORDS)
    assert DistinctOptions("mine", Reader(tokenizer, "decoder"), 1).unknown == 0
    tokenizer.eos_token_id = 0
    assert DistinctOptions("mine", Reader(tokenizer, "decoder"), 1).unknown is None


def test_tied_scores_are_counted_and_refused_above_the_limit():
    rng = np.random.default_rng(0)
    rows = rows_of(["he", "she", "they"], count=100)
    table = rows.assign(log_probability=rng.normal(size=len(rows)))
    ties = int(LIMIT * 100)
    # The two best of some instances are equal; equal scores below the best one decide nothing.
    for number in range(ties):
        table.loc[table.instance_id == str(number), "log_probability"] = [-1.0, -1.0, -2.0]
    table.loc[table.instance_id == "50", "log_probability"] = [-1.0, -2.0, -2.0]
    found = distinct(total=100)
    found.count_ties(table)
    assert found.counts["tied_instances"] == ties
    table.loc[table.instance_id == "60", "log_probability"] = [-1.0, -2.0, -1.0]
    with refused(f"in {ties + 1} or more of 100", "equal scores", "float32"):
        distinct(total=100).count_ties(table)


def test_counts_add_up_over_the_windows_of_a_job():
    rows, found = rows_of(["he", "xe"], 2), distinct(total=20)
    read(found, rows[rows.instance_id == "0"])
    table = pd.DataFrame({"instance_id": ["0", "0"], "log_probability": [-1.0, -1.0]})
    found.count_ties(table)
    read(found, rows[rows.instance_id == "1"])
    found.count_ties(table.assign(instance_id="1"))
    assert found.counts == {"unknown_instances": 2, "unread_instances": 2, "tied_instances": 2}
    with refused("in 3 or more of 20", "equal scores"):
        found.count_ties(table.assign(instance_id="2"))
    with refused("in 3 or more of 20", "does not know an option"):
        read(found, rows_of(["he", "xe"], 1))
