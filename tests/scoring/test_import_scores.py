"""Scores that lm-evaluation-harness logged: they become the model's, or are refused by file and line."""

import json
from pathlib import Path

import pandas as pd
import pytest

from scripts.core import config, files
from scripts.core.data import options
from scripts.core.engines import registry
from scripts.core.errors import UserError
from scripts.core.paper import eval_records
from scripts.scoring import import_scores, score
from tests import jobs
from tests import zoo as builder
from tests.scoring.test_score import write_instances

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return config.load_yaml(builder.build(tmp_path_factory.mktemp("zoo"), ("tiny-llama",)))["models"]


@pytest.fixture(scope="module")
def scored(entries, tmp_path_factory):
    """A folder with instances and this project's own scores of them."""
    folder = tmp_path_factory.mktemp("scored")
    write_instances(folder / "instances.parquet", 12, repeated=3)
    given = jobs.model_arguments(entries, "tiny-llama", folder) | {"score": "continuation", "engine": "packed"}
    score.main(**given, instances=str(folder / "instances.parquet"), scores=str(folder / "scores.parquet"))
    return folder


def samples(folder, column="log_probability"):
    """Return the lines that the harness would log of the scores in a folder."""
    rows = options.option_texts(files.read_parquet(folder / "instances.parquet"))
    scores = files.read_parquet(folder / "scores.parquet")
    lines = []
    for identifier, part in rows.groupby("instance_id", sort=False):
        values = scores.loc[part.index, column]
        cuts = [0] * len(part) if column == "log_probability" else part.text.str.index(" would pay")
        pairs = [(text[:cut], text[cut:]) for text, cut in zip(part.text, cuts, strict=True)]
        lines.append(
            {
                "doc": {"instance_id": identifier},
                "arguments": {f"gen_args_{n}": {"arg_0": a, "arg_1": b} for n, (a, b) in enumerate(pairs)},
                "filtered_resps": [[str(value), "False"] for value in values],
            }
        )
    return lines


def records(folder, name="replica", **stated):
    """Return the records that this project exports of the scores in a folder."""
    listed = files.read_parquet(folder / "instances.parquet")
    listed = listed.assign(gold=[None, *listed.options.str[0][1:]])
    scores, facts = files.read_parquet(folder / "scores.parquet"), files.parquet_metadata(folder / "scores.parquet")
    made = eval_records.samples(name, listed, scores, facts | stated, {"evaluation_id": "e", "model_id": "m"}, "canary")
    return list(made)


@pytest.fixture
def bring(entries, scored, tmp_path):
    """Import logged lines of one or several files; return the scores."""

    def bring(*logs, score="log_likelihood", **changed):
        paths = []
        for number, lines in enumerate(logs):
            paths.append(tmp_path / f"samples_{number}.jsonl")
            paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines))
        outputs = {"tokenizer": entries["tiny-llama"]["source"], "files": {}}
        given = {
            "instances": str(scored / "instances.parquet"), "logged": list(map(str, paths)), "model": "theirs",
            "scores": str(tmp_path / "scores.parquet"), "score": score,
            "entry": {"label": "Theirs", "outputs": outputs, "architecture": "decoder", "demonstration": False},
        }  # fmt: skip
        import_scores.main(**given | changed)
        return files.read_parquet(given["scores"])

    return bring


def test_what_was_logged_is_what_is_read(bring, scored, tmp_path):
    own = files.read_parquet(scored / "scores.parquet")
    both = bring(samples(scored), samples(scored, "continuation_log_probability"), score="continuation")
    pd.testing.assert_frame_equal(both, own)
    # Parts are left out where a study compares texts, and so are instances of another run.
    other = samples(scored)[0] | {"doc": {"instance_id": "f" * 16}}
    whole = bring([*samples(scored), other], samples(scored, "continuation_log_probability"))
    pd.testing.assert_frame_equal(whole, own.drop(columns=["continuation_log_probability", "continuation_tokens"]))
    facts = files.parquet_metadata(tmp_path / "scores.parquet")
    assert facts["model"] == "theirs" and facts["instances"] == 12 and "scored_after" not in facts


@pytest.mark.parametrize("name", ["replica", "official"])
def test_exported_records_come_back(name, bring, scored, tmp_path):
    """Whether their texts are exported or withheld."""
    own = files.read_parquet(scored / "scores.parquet")
    lines = records(scored, name)
    assert lines[1]["input"]["raw"].startswith("withheld") == (name == "official")
    pd.testing.assert_frame_equal(bring(lines[::-1], score="continuation"), own)
    bring(records(scored, name, scored_after="a"))
    facts = files.parquet_metadata(tmp_path / "scores.parquet")
    assert (facts["engine"], facts["scored_after"]) == ("every_eval_ever", "a")


def test_records_of_models_that_read_another_token_first_are_not_one_model(bring, scored):
    lines, others = records(scored), records(scored, scored_after="a")
    half = len(lines) // 2
    with pytest.raises(UserError, match=r"has scored_after None, .* has a; name the records of one model"):
        bring(lines[:half], others[half:])


def change(line, **keys):
    """Change keys of a record, or of its parts."""
    for name, value in keys.items():
        part = next(part for part in (line["input"], line["metadata"], line) if name in part)
        part[name] = value


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"raw": "The cook said that ___ would pay."}, r":5: instance 0+4: its texts differ"),
        ({"choices": ["he", "she", "they", "fae"]}, r":5: instance 0+4: its texts differ"),
        ({"log_probabilities": "[NaN, -3, -2, -2]"}, r":5: instance 0+4: .* are no log-likelihoods"),
        (
            {"log_probabilities": "[-3]"},
            r":5: sample 0+4: the metadata log_probabilities .* in length, 1 and 4; export",
        ),
        ({"log_probabilities": '["x", 1, 1, 1]'}, r":5: not a sample that can be read \(ValueError"),
        ({"scored_tokens": "[3, 3, 3, 3]"}, r"instance 0+4: the record counts 3 tokens, the tokenizer \d+; name"),
        ({"metadata": {}}, r":5: sample 0+4 has no metadata log_probabilities"),
        ({"interaction_type": "multi_turn"}, r":5: sample 0+4 is of several turns"),
    ],
)
def test_records_that_differ_are_refused(changed, problem, bring, scored):
    lines = records(scored)
    change(lines[4], **changed)
    with pytest.raises(UserError, match=problem):
        bring(lines)


def test_records_are_of_one_tool_and_finished(bring, scored):
    fewer = records(scored)
    change(fewer[4], choices=["he"], metadata={"log_probabilities": "[-3]"})
    with pytest.raises(UserError, match=r":5: instance 0+4: it has 1 options, in the run 4; export"):
        bring(fewer)
    with pytest.raises(
        UserError, match=r"samples_0.jsonl is from every_eval_ever, .* from lm-evaluation-harness; name"
    ):
        bring(records(scored), samples(scored))
    with pytest.raises(UserError, match=r":1: sample 0+ ended with an error"):
        bring([line | {"error": "timeout"} for line in records(scored)])


def test_a_text_that_differs_is_refused_by_its_line(bring, scored):
    lines = samples(scored)
    lines[4]["arguments"]["gen_args_1"]["arg_1"] += " Indeed."
    with pytest.raises(UserError, match=r"samples_0\.jsonl:5: instance 0+4: its texts differ from those of the run"):
        bring(lines)


def test_other_contexts_are_refused(bring, scored):
    lines = samples(scored)
    for pair in lines[2]["arguments"].values():
        pair["arg_0"], pair["arg_1"] = pair["arg_1"][:3], pair["arg_1"][3:]
    with pytest.raises(UserError, match=r"samples_0\.jsonl:3: .* contexts are neither empty nor end with"):
        bring(lines)


@pytest.mark.parametrize("value", ["nan", "0.5", "-inf"])
def test_what_is_no_log_likelihood_is_refused(value, bring, scored):
    lines = samples(scored)
    lines[0]["filtered_resps"][0][0] = value
    with pytest.raises(UserError, match=r"samples_0\.jsonl:1: instance 0+: .* are no log-likelihoods"):
        bring(lines)


def test_missing_and_repeated_instances_are_refused(bring, scored):
    with pytest.raises(UserError, match=r"lack log_probability of instance 0+b \(1 of 12 lack it\)"):
        bring(samples(scored)[:-1])
    with pytest.raises(UserError, match=r"lack continuation_log_probability of instance 0+ \(12 of 12"):
        bring(samples(scored), score="continuation")
    with pytest.raises(UserError, match=r"samples_1\.jsonl:1: instance 0+ is logged twice"):
        bring(samples(scored), samples(scored))


@pytest.mark.parametrize("line", ["no json", {"doc": {}}, {"arguments": {}, "filtered_resps": [["-1", "False"]]}])
def test_other_files_are_refused(line, bring, scored):
    with pytest.raises(UserError, match=r"samples_0\.jsonl:1: not a sample that can be read"):
        bring([line])


def test_a_part_less_probable_than_the_text_is_refused(bring, scored):
    """The harness scores one of two texts wrongly that are the same tokens and differ in where they are divided."""
    parts = samples(scored, "continuation_log_probability")
    parts[3]["filtered_resps"][1][0] = "-1e4"
    with pytest.raises(UserError, match=r"instance 0+3: the text is more probable .*logits_cache=False"):
        bring(samples(scored), parts, score="continuation")


def test_files_are_found_by_patterns_and_must_be_there(tmp_path):
    (tmp_path / "logs").mkdir()
    for name in "ab":
        (tmp_path / f"logs/samples_{name}.jsonl").touch()
    key, outputs = "ruff/replica", {"files": {"ruff/replica": ["logs/samples_*.jsonl", "logs/samples_b.jsonl"]}}
    found = registry.logged_files("theirs", outputs, key, tmp_path, ROOT)
    assert found == ["logs/samples_a.jsonl", "logs/samples_b.jsonl"]
    absolute = {"files": {key: [str(tmp_path / "logs/*a.jsonl")]}}
    assert registry.logged_files("theirs", absolute, key, tmp_path, ROOT) == ["logs/samples_a.jsonl"]
    with pytest.raises(UserError, match=r"models\.theirs\.outputs\.files: none\.jsonl: no such file"):
        registry.logged_files("theirs", {"files": {key: ["none.jsonl"]}}, key, tmp_path, ROOT)
    with pytest.raises(UserError, match=r"models\.theirs\.outputs\.files names no files of winopron/replica"):
        registry.logged_files("theirs", outputs, "winopron/replica", tmp_path, ROOT)
