"""Prompts of Table 7: reading, filling, sampling, and what models answer to them."""

from dataclasses import replace

import pytest

from scripts.core import files
from scripts.core.models.entries import Model
from scripts.winopron import instances, prompts
from tests.refusals import refused

SETTINGS = {
    "models": ["a"], "pairs": 2, "entities": ["double"], "variants": ["none", "occupation_first"],
    "new_tokens": {"decoder": 10, "encoder-decoder": 5},
}  # fmt: skip


@pytest.fixture
def shipped(root):
    return root / "templates/winopron/prompts.tsv"


def test_the_ten_prompts_are_read_with_their_ids(shipped):
    read = prompts.read_prompts(shipped, "code")
    assert list(read) == [str(number) for number in range(10)]
    assert all("\n" in prompt["text"] and "\\n" not in prompt["text"] for prompt in read.values())
    assert list(prompts.read_prompts(shipped, "code", ["4", "0"])) == ["0", "4"]
    with refused("winopron.prompting.prompts", "'11'", shipped):
        prompts.read_prompts(shipped, "code", ["11"])


@pytest.mark.parametrize(
    ("row", "named"),
    [
        ("0\tx\t{task} {pronoun}", ["once each", "correct the text"]),
        ("0\tx\t{task} {task} {pronoun} {options}", ["once each", "correct the text"]),
        ("0\tx\t{task} {pronoun} {options} {blank}", ["once each", "correct the text"]),
        ("a\tx\t{task} {pronoun} {options}", ["'a' is already in row 2"]),
    ],
    ids=["missing", "repeated", "unknown", "same id"],
)
def test_wrong_prompts_are_refused_by_row(tmp_path, row, named):
    path = tmp_path / "prompts.tsv"
    path.write_text(f"prompt\tpaper\tcode\na\tx\t{{task}} {{pronoun}} {{options}}\n{row}\n", encoding="utf-8")
    with refused(f"{path}, row 3", *named):
        prompts.read_prompts(path, "code")


def test_prompts_of_the_authors_code_differ_from_the_papers(shipped):
    paper, code = (prompts.read_prompts(shipped, wording) for wording in prompts.WORDINGS)
    assert [name for name in paper if paper[name] != code[name]] == ["1", "5", "6", "7", "8", "9"]
    assert paper["9"]["text"] == "{task}\nWho is “{pronoun}”\n{options}"
    assert code["9"]["text"] == '{task}\nWho is "{pronoun}"?\n{options}'
    assert not any(" \n" in prompt["text"] for prompt in code.values())


def test_prompts_without_options_leave_no_gap_and_a_sentence_is_filled_in_as_it_is(shipped):
    sentence = "The weaver said that {pronoun} slept."
    for prompt in prompts.read_prompts(shipped, "code").values():
        plain = prompts.fill_prompt(prompt["text"], sentence, "xe", [])
        assert "OPTIONS" not in plain and "\n\n\n" not in plain and plain == plain.strip()
        listed = prompts.fill_prompt(prompt["text"], sentence, "xe", ["weaver", "buyer"])
        assert listed.count("OPTIONS:\n- weaver\n- buyer") == 1 == listed.count(sentence) == listed.count("{")


def test_samples_are_whole_pairs_in_their_order(double):
    pairs = list(dict.fromkeys(double.pair))
    assert prompts.sample_pairs(double.pair, "all", 1) == prompts.sample_pairs(double.pair, 5, 1) == pairs
    names = [f"p{number}" for number in range(30)]
    drawn = prompts.sample_pairs(names, 4, 7)
    assert len(drawn) == 4 and drawn == sorted(drawn, key=names.index) == prompts.sample_pairs(names, 4, 7)
    assert drawn != prompts.sample_pairs(names, 4, 8)


def test_each_instance_is_asked_in_every_way(double, shipped, tmp_path):
    path, out = tmp_path / "double.parquet", tmp_path / "prompts.parquet"
    files.write_parquet(path, double, {"origins": {"template_row": "sentences.tsv"}})
    instances.prompts(
        instances=[str(path)], prompt_templates=str(shipped), prompts=str(out), pairs=1, seed=3, wording="code",
        chosen="all", variants=list(prompts.VARIANTS),
    )  # fmt: skip
    table = files.read_parquet(out)
    assert len(table) == 24 * 10 * 3 and table.text_id.is_unique and table.follow_up.isna().all()
    assert files.parquet_metadata(out)["origins"]["prompt_row"] == "prompts.tsv"
    one = table[(table.instance_id == table.instance_id[0]) & (table.prompt == "0")].set_index("variant").text
    row = double.set_index("instance_id").loc[table.instance_id[0]]
    assert f"- {row.occupation}\n- {row.participant}" in one["occupation_first"]
    assert f"- {row.participant}\n- {row.occupation}" in one["participant_first"]


def test_jobs_count_prompts_and_need_a_wrapping():
    model = Model(name="a", label="A", licence="MIT", architecture="decoder", prompt_wrapping="none")
    (asked,) = prompts.plan_prompting(SETTINGS, {"a": model}, 3, 4).values()
    assert asked.prompts == 2 * 6 * 4 * 3 * 2 and asked.generated() == asked.prompts * 10
    with refused("winopron.prompting.models", "'a'", "prompt_wrapping"):
        prompts.plan_prompting(SETTINGS, {"a": replace(model, prompt_wrapping=None)}, 3, 4)
