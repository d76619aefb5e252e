"""Chat templates: the prompt stands in them once, thoughts are no answers, and the date stays the same."""

import datetime

import pandas as pd
import pytest
from transformers import AutoModelForCausalLM

from scripts.core import config, files
from scripts.core.data import prompting
from scripts.core.generation.generate import Generator
from scripts.distributions import token_distributions
from scripts.prompting import prompt
from scripts.ruff import prompt_tables
from tests import jobs
from tests import zoo as builder
from tests.prompting.test_prompt import NEW, arguments, write_prompts
from tests.refusals import refused

NAME, DATE = "tiny-qwen", "2024-07-26"
PLAIN = builder.CHAT_TEMPLATE
SHOWN = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"
CONTENT = "{{ message.content }}"
PARTS = PLAIN.replace(
    CONTENT, "{% for part in message.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}"
)
HARMONY = ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    entries = config.load_yaml(builder.build(tmp_path_factory.mktemp("zoo"), [NAME]))["models"]
    folder = entries[NAME]["source"]["path"]
    # Room for the special tokens that a test adds.
    network = AutoModelForCausalLM.from_pretrained(folder)
    network.resize_token_embeddings(network.config.vocab_size + 8)
    network.save_pretrained(folder)
    return entries, *builder.load(NAME, entries[NAME])


@pytest.fixture
def tokenizer(opened):
    """The tiny model's tokenizer, whose template a test may change, also on disk."""
    folder = opened[0][NAME]["source"]["path"]
    found = opened[2]
    yield found
    found.chat_template = PLAIN
    found.save_pretrained(folder)


def wrapped(tokenizer, template, text="Who left?", date=DATE, **thinking):
    tokenizer.chat_template = template
    return prompting.make_wrapper("chat_template", thinking or None, tokenizer, date)(text)


@pytest.mark.parametrize("text", ["Who left?", " Who left? ", "a", "{% x %} 'quoted' \"twice\" <b>\n___"])
def test_a_prompt_is_in_what_the_model_reads(tokenizer, text):
    assert wrapped(tokenizer, PLAIN, text) == wrapped(tokenizer, PARTS, text) == SHOWN.format(text)
    assert wrapped(tokenizer, PLAIN.replace(CONTENT, "{{ message.content | trim }}"), text) == SHOWN.format(
        text.strip()
    )


OTHERS = {
    "none": (None, ["is missing from its tokenizer", "prompt_wrapping to none"]),
    "not shown": (PLAIN.replace(CONTENT, "Hello"), ["shows a prompt 0 times", "prompt_wrapping to none"]),
    "shown twice": (PLAIN.replace(CONTENT, CONTENT * 2), ["shows a prompt 2 times"]),
    "cut": (PLAIN.replace(CONTENT, "{{ message.content[:8] }}"), ["changes a prompt"]),
    "hostile": ("{{ ''.__class__.__mro__ }}", ["fails: SecurityError"]),
    "broken": ("{{ messages[0]['content'] ", ["fails: TemplateSyntaxError"]),
    "refusing": ("{{ raise_exception('no users here') }}", ["fails: TemplateError: no users here"]),
}


@pytest.mark.parametrize(("template", "named"), OTHERS.values(), ids=OTHERS)
def test_other_templates_are_refused(tokenizer, template, named):
    with refused("config/models.yaml: the model's chat template", *named):
        wrapped(tokenizer, template)


def test_the_date_is_that_of_the_configuration(tokenizer, monkeypatch):
    dated = "{{ strftime_now('%d %b %Y') }}, {{ date_string }}. " + PLAIN
    assert wrapped(tokenizer, dated).startswith("26 Jul 2024, 26 Jul 2024. ")

    class Later(datetime.datetime):
        now = classmethod(lambda cls, tz=None: cls(2031, 5, 6))

    monkeypatch.setattr("transformers.utils.chat_template_utils.datetime", Later)
    assert wrapped(tokenizer, dated + " ").startswith("26 Jul 2024, 26 Jul 2024. ")
    assert wrapped(tokenizer, dated, date="2025-01-02").startswith("02 Jan 2025, 02 Jan 2025. ")
    with refused("chat_templates.date", "'2026-02-30' is no day"):
        wrapped(tokenizer, dated, date="2026-02-30")
    # As Llama 3.2 and GPT-OSS ask.
    asked = '{% if strftime_now is defined %}{% set day = strftime_now( "%Y-%m-%d" ) %}{% endif %}{{ day }} '
    assert wrapped(tokenizer, asked + PLAIN).startswith(f"{DATE} ")
    with refused("strftime_now with other than a text", "prompt_wrapping"):
        wrapped(tokenizer, "{% set form = '%Y' %}{{ strftime_now(form) }} " + PLAIN)
    # Of several templates the default one.
    tokenizer.chat_template = {"tool_use": "{{ strftime_now('%Y') }}", "default": dated}
    assert prompting.make_wrapper("chat_template", None, tokenizer, DATE)("a").startswith("26 Jul 2024, 26 Jul 2024. ")


@pytest.mark.parametrize(
    "said", ["<think>", "[THINK]", "{{ reasoning_effort }}", "{# <|channel|> #}", "{{ enable_thinking }}"]
)
def test_a_template_that_speaks_of_thoughts_needs_thinking(tokenizer, said):
    with refused("lets it think before it answers", "add thinking"):
        wrapped(tokenizer, PLAIN + said)


def test_thinking_is_passed_to_the_template(tokenizer):
    switched = builder.THINKING_TEMPLATE
    assert wrapped(tokenizer, switched, enable_thinking=True) == SHOWN.format("Who left?")
    assert wrapped(tokenizer, switched, enable_thinking=False) == SHOWN.format("Who left?") + "<think>\n\n</think>\n\n"
    with refused("no variable 'enable_thinkng'", "thinking.enable_thinkng"):
        wrapped(tokenizer, switched, enable_thinkng=False)
    # What the template does without the variable is not known.
    with refused("lets it think before it answers", "add thinking"):
        wrapped(tokenizer, switched, tokens=64)
    begun = PLAIN.replace("assistant\n{%", "assistant\n<think>\n{%")
    assert wrapped(tokenizer, begun, tokens=64) == SHOWN.format("Who left?") + "<think>\n"


@pytest.mark.parametrize(
    ("text", "tags", "shown", "thought", "answer"),
    [
        ("her", prompting.TAGS, "", None, "her"),
        (" \n<think>Is it her?</think>\n\nhis", prompting.TAGS, "", "Is it her?", "\n\nhis"),
        ("<think>Is it her or", prompting.TAGS, "", "Is it her or", ""),
        ("Is it her?</think>his", prompting.TAGS, "a\n<think>\n", "Is it her?", "his"),
        ("Is it her?", prompting.TAGS, "a\n<think>\n", "Is it her?", ""),
        # A template began the thought and did not say so, or the model forgot the first tag.
        ("Is it her?</think>his", prompting.TAGS, "", "Is it her?", "his"),
        ("She said <think>", prompting.TAGS, "", None, "She said <think>"),
        ("[THINK]Is it her?[/THINK]his", ("[THINK]", "[/THINK]"), "", "Is it her?", "his"),
        (f"{HARMONY[0]}Is it her?<|end|><|start|>{HARMONY[1]}his", HARMONY, "", "Is it her?<|end|><|start|>", "his"),
        (f"{HARMONY[1]}his", HARMONY, "", "", "his"),
    ],
)
def test_a_thought_is_no_part_of_the_answer(text, tags, shown, thought, answer):
    assert prompting.split_thought(text, tags, shown) == (thought, answer)


def asked(opened, folder, written=None, **thinking):
    """Return the answers of a job and their metadata; ``written``: tokens that it writes after any prompt."""
    entries, *_ = opened
    entry = entries[NAME] | ({"thinking": thinking} if thinking else {})
    write_prompts(folder / "prompts.parquet", 4)
    with pytest.MonkeyPatch.context() as patch:
        if written:
            patch.setattr(Generator, "run", lambda self, batch: [self.read(written) for _ in batch.work])
        prompt.main(**arguments(entries | {NAME: entry}, folder, folder / "prompts.parquet", NAME))
    return files.read_parquet(folder / "answers.parquet"), files.parquet_metadata(folder / "answers.parquet")


def test_tags_may_be_special_tokens(opened, tokenizer, tmp_path):
    """As of Magistral and GPT-OSS: the text of a generation leaves special tokens out."""
    special = ["[THINK]", "[/THINK]", "<|channel|>", "<|message|>", "<|end|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": special}, replace_extra_special_tokens=False)
    tokenizer.save_pretrained(opened[0][NAME]["source"]["path"])
    for n, (text, tags) in enumerate(
        [
            ("[THINK]It may be him.[/THINK]her<|im_end|>", ["[THINK]", "[/THINK]"]),
            (f"{HARMONY[0]}It may be him.<|end|>{HARMONY[1]}her<|im_end|>", list(HARMONY)),
        ]
    ):
        (tmp_path / str(n)).mkdir()
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        answers, facts = asked(opened, tmp_path / str(n), tokens, tokens=64, tags=tags)
        assert set(answers.answer) == {"her"} and set(answers.answer_thought) == {"It may be him."}
        assert answers.answer_thought_closed.all() and facts["thoughts_cut_off"] == 0
        assert facts["thinking"] == {"tokens": 64, "tags": tags} and facts["date"] == DATE


def test_a_thought_without_an_end_leaves_no_answer(opened, tmp_path):
    tokens = opened[2]("<think>It may be her or", add_special_tokens=False)["input_ids"]
    answers, facts = asked(opened, tmp_path, tokens)
    assert set(answers.answer) == {""} and not answers.answer_thought_closed.any()
    assert (facts["thoughts"], facts["thoughts_cut_off"]) == (5, 5)
    assert prompt_tables.describe_thinking(facts) == "5 thoughts, 5 cut off"


def test_a_model_that_does_not_think_has_no_more_tokens_than_any_other(opened, tmp_path):
    (tmp_path / "more").mkdir()
    plain, _ = asked(opened, tmp_path)
    more, facts = asked(opened, tmp_path / "more", tokens=30)
    pd.testing.assert_frame_equal(plain, more)
    assert more.answer_tokens.max() == NEW["answer"] and more.answer_thought.isna().all()
    assert prompt_tables.describe_thinking(facts) == "none"


def test_distributions_of_a_thought_are_refused(opened, tmp_path):
    entries, _, tokenizer = opened
    texts = pd.DataFrame(
        [{"text_id": "a", "instance_id": "i", "prompt": "p", "text": "Who left?", "method": "generate"}]
    )
    files.write_parquet(tmp_path / "texts.parquet", texts)
    given = jobs.model_arguments(entries, NAME, tmp_path) | {
        "texts": str(tmp_path / "texts.parquet"), "distributions": str(tmp_path / "out.parquet"),
        "masses": str(tmp_path / "mass.parquet"), "methods": ["generate"], "top_k": 2, "max_new_tokens": 3,
        "groups": {}, "date": DATE,
    }  # fmt: skip
    # What the tiny model writes first stands for the tag.
    shown = SHOWN.format("Who left?")
    first = Generator(opened[1], tokenizer, 1).answer([shown])[0].tokens
    given["entry"] = entries[NAME] | {"thinking": {"tags": ["no tag", "none"]}}
    token_distributions.main(**given)
    given["entry"] = entries[NAME] | {"thinking": {"tags": [tokenizer.decode(first), "none"]}}
    with refused(f"model {NAME} thinks before it answers", "distributions"):
        token_distributions.main(**given)


def test_the_table_has_a_column_where_a_model_thinks():
    table = pd.DataFrame(
        {
            "model": ["a", "b"], "source": "local folder", "revision": None, "parameters": 10, "precision": "float32",
            "prompt_wrapping": "chat_template", "prompts": 8, "thinking": ["none", ""],
            **{f"new_tokens_{step}": 5 for step in prompt_tables.STEPS},
        }
    )  # fmt: skip
    labels = {"a": {"label": "A"}, "b": {"label": "B"}}
    cells = prompt_tables.prompted_model_cells(table, labels)
    assert list(cells.Thinking) == ["none", prompt_tables.MISSING_MARK]
    assert "Thinking" not in prompt_tables.prompted_model_cells(table.assign(thinking=""), labels)
