"""Models that think before they answer: what they are shown, what is taken as thought, and what as answer."""

import pandas as pd
import pytest

from scripts.core import config, files
from scripts.core.data import prompting
from scripts.core.engines import generation, models
from scripts.core.errors import UserError
from scripts.core.paper.formats import MISSING_MARK
from scripts.prompting import prompt
from scripts.ruff.lib import prompt_tables
from tests import zoo as builder
from tests.prompting.test_prompt import NEW, arguments, write_prompts

NAME = "tiny-qwen"
SHOWN = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
EMPTY = "<think>\n\n</think>\n\n"
# Of DeepSeek R1's kind: the prompt ends within the thought.
BEGUN = builder.CHAT_TEMPLATE.replace("assistant\n{%", "assistant\n<think>\n{%")
# With a switch that says something to the model, not with an empty thought.
TOLD = "{% if not thinking %}/no_think {% endif %}" + builder.CHAT_TEMPLATE


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """The registry, and the tiny model with its tokenizer, whose template asks whether it is to think."""
    entries = config.load_yaml(builder.build(tmp_path_factory.mktemp("zoo"), [NAME]))["models"]
    network, tokenizer = models.load(NAME, entries[NAME], models.locate(NAME, entries[NAME]), builder.DEVICE)
    tokenizer.chat_template = builder.THINKING_TEMPLATE
    tokenizer.save_pretrained(entries[NAME]["source"]["path"])
    return entries, network, tokenizer


def asked(opened, folder, **thinking):
    entries, *_ = opened
    entry = entries[NAME] | ({"thinking": thinking} if thinking else {})
    write_prompts(folder / "prompts.parquet", 12)
    prompt.main(**arguments(entries | {NAME: entry}, folder, folder / "prompts.parquet", NAME))
    return files.read_parquet(folder / "answers.parquet"), files.parquet_metadata(folder / "answers.parquet")


def alone(opened, text, most, **options):
    _, network, tokenizer = opened
    return generation.generate(network, tokenizer, [text], max_new_tokens=most, tokens_per_batch=1, **options)[0]


@pytest.mark.parametrize(
    ("text", "begun", "thought", "answer"),
    [
        ("her", False, None, "her"),
        ("<think>Is it her?</think>\n\nhis", False, "Is it her?", "\n\nhis"),
        (" \n<think>\n</think>his", False, "", "his"),
        ("<think>Is it her or", False, "Is it her or", ""),
        ("Is it her?</think>his", True, "Is it her?", "his"),
        ("Is it her?", True, "Is it her?", ""),
        # A template began the thought and did not say so, or the model forgot the first tag.
        ("Is it her?</think>his", False, "Is it her?", "his"),
        ("She said <think>", False, None, "She said <think>"),
    ],
)
def test_a_thought_is_no_part_of_the_answer(text, begun, thought, answer):
    assert prompting.Thinking(0).parted(text, begun) == (thought, answer)


@pytest.mark.parametrize(
    ("template", "off", "on"),
    [
        (builder.THINKING_TEMPLATE, SHOWN.format("a") + EMPTY, SHOWN.format("a")),
        (builder.CHAT_TEMPLATE, SHOWN.format("a") + EMPTY, SHOWN.format("a")),
        (BEGUN, SHOWN.format("a") + EMPTY, SHOWN.format("a") + "<think>\n"),
        (TOLD, "/no_think " + SHOWN.format("a"), SHOWN.format("a")),
    ],
)
def test_what_the_model_is_shown(opened, template, off, on):
    _, _, tokenizer = opened
    kept, tokenizer.chat_template = tokenizer.chat_template, template
    try:
        wrapped = [prompting.wrap("a", "chat_template", tokenizer, prompting.Thinking(n)) for n in (0, 64)]
        assert wrapped == [off, on]
        if template != builder.CHAT_TEMPLATE:
            with pytest.raises(UserError, match=r"lets it think before it answers; set thinking: \{tokens: 0\}"):
                prompting.wrap("a", "chat_template", tokenizer)
    finally:
        tokenizer.chat_template = kept


def test_without_thinking_an_empty_thought_stands_before_the_answer(opened, tmp_path):
    answers, facts = asked(opened, tmp_path, tokens=0)
    rows = files.read_parquet(tmp_path / "prompts.parquet")
    assert facts["wrapped"] == SHOWN.format("{prompt}") + EMPTY
    for row, found in zip(rows.itertuples(), answers.itertuples(), strict=True):
        if row.method == "vanilla":
            assert found.answer == alone(opened, SHOWN.format(row.text) + EMPTY, NEW["answer"]).text
    assert answers.answer_thought.isna().all() and facts["thoughts"] == 0
    assert prompt_tables.describe_thinking(facts) == "off"


def test_a_thought_that_does_not_end_is_closed_when_its_tokens_are_spent(opened, tmp_path):
    with pytest.raises(UserError, match=r"thinking.tags: '<\|im_start\|>' is a special token of the model"):
        asked(opened, tmp_path, tokens=6, tags=["<|im_start|>", "</think>"])
    _, _, tokenizer = opened
    tokenizer.chat_template = BEGUN
    tokenizer.save_pretrained(opened[0][NAME]["source"]["path"])
    answers, facts = asked(opened, tmp_path, tokens=6)
    tokenizer.chat_template = builder.THINKING_TEMPLATE
    tokenizer.save_pretrained(opened[0][NAME]["source"]["path"])
    rows = files.read_parquet(tmp_path / "prompts.parquet")
    for row, found in zip(rows.itertuples(), answers.itertuples(), strict=True):
        if row.method == "vanilla":
            shown = SHOWN.format(row.text) + "<think>\n"
            thought = alone(opened, shown, 6)
            assert (found.answer_thought, found.answer_thought_tokens) == (thought.text.strip(), len(thought.tokens))
            assert not found.answer_thought_closed
            ended = alone(opened, shown + thought.text.rstrip() + "</think>\n\n", NEW["answer"])
            assert (found.answer, found.answer_tokens) == (ended.text, len(ended.tokens))
        else:
            # Thoughts have tokens of their own, not those of what follows them.
            assert found.chain_thought and found.chain_thought_tokens <= 6 < NEW["chain"]
            assert not found.chain_thought_closed
    assert facts["thoughts"] == facts["thoughts_cut_off"] == len(rows) + (rows.method != "vanilla").sum()
    assert prompt_tables.describe_thinking(facts) == "up to 6 tokens; 16 of 16 cut off"


def test_a_thought_that_the_model_closes_ends_there(opened, tmp_path):
    """What the tiny model writes third stands for the tag, so that it is a thought of a few tokens."""
    rows = write_prompts(tmp_path / "prompts.parquet", 12)
    _, _, tokenizer = opened
    first = alone(opened, SHOWN.format(rows.text[0]), 12)
    start, end = (tokenizer.decode([first.tokens[place]]) for place in (0, 3))
    answers, facts = asked(opened, tmp_path, tokens=40, tags=[start, end])
    found = answers.iloc[0]
    assert found.answer_thought_closed and end not in found.answer_thought
    before = alone(opened, SHOWN.format(rows.text[0]), 40, stop=[end])
    ended = alone(opened, SHOWN.format(rows.text[0]) + before.text.rstrip() + end + "\n\n", NEW["answer"])
    assert found.answer == ended.text
    assert facts["thoughts"] > facts["thoughts_cut_off"]
    # Those that answer at once get the tokens of an answer, no more.
    at_once = answers[answers.answer_thought.isna()]
    assert (at_once.answer_tokens <= NEW["answer"]).all()
    for row in at_once[at_once.chain.isna()].itertuples():
        text = rows.set_index("text_id").text[row.text_id]
        assert row.answer == alone(opened, SHOWN.format(text), NEW["answer"]).text


def test_a_template_that_asks_must_be_answered(opened, tmp_path):
    with pytest.raises(UserError, match=r"set thinking: \{tokens: 0\} for answers without a thought"):
        asked(opened, tmp_path)


def test_the_table_has_a_column_where_a_model_thinks():
    table = pd.DataFrame(
        {
            "model": ["a", "b"], "source": "local folder", "revision": None, "parameters": 10, "precision": "float32",
            "prompt_wrapping": "chat_template", "prompts": 8, "thinking": ["off", ""],
            **{f"new_tokens_{step}": 5 for step in prompt_tables.STEPS},
        }
    )  # fmt: skip
    labels = {"a": {"label": "A"}, "b": {"label": "B"}}
    assert list(prompt_tables.prompted_models_cells(table, labels).Thinking) == ["off", MISSING_MARK]
    assert "Thinking" not in prompt_tables.prompted_models_cells(table.assign(thinking=""), labels)
