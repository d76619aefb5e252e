"""From what models wrote to accuracies, on a few outputs that can be counted by hand; and the figures and tables."""

import functools
import warnings

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import templates
from scripts.core.errors import UserError
from scripts.core.paper import latex, plotting
from scripts.ruff import estimates, figures, predictions, prompt_tables, section_numbers, study, tables
from tests.conftest import ROOT
from tests.figures import problems
from tests.ruff import synthetic

PRONOUNS = templates.select_pronoun_sets(
    templates.read_pronouns(ROOT / "templates/pronouns.tsv"), ["he", "she", "they", "xe"]
)
FORMS = ["he", "she", "they", "xe"]
PROMPTS = ROOT / "templates/ruff"

# Two instances; the second is in two samples and is asked for a chain in one of them.
PROMPTED = pd.DataFrame(
    [
        ("a0", 13, 0, "baker", "nominative", "she", False),
        ("b1", 13, 1, "cook", "accusative", "xe", True),
        ("b1", 17, 1, "cook", "accusative", "xe", False),
    ],
    columns=["instance_id", "seed", "n_distractors", "occupation", "case", "pronoun", "chains"],
)
# Instance, method, prompt, kind, order, listed options, chain, answer.
WRITTEN = [
    ("a0", "vanilla", "0", "open", "published", [], None, "She."),
    ("a0", "vanilla", "5", "options", "published", FORMS, None, "he"),
    ("a0", "vanilla", "5", "options", "rotated", ["xe", "he", "she", "they"], None, "she"),
    ("b1", "vanilla", "0", "open", "published", [], None, "xe"),
    ("b1", "vanilla", "5", "options", "published", ["him", "her", "them", "xem"], None, "xem or him"),
    ("b1", "vanilla", "5", "options", "rotated", ["xem", "him", "her", "them"], None, "him"),
    ("b1", "kojima", "0", "open", "published", [], "It is xem.", ""),
]


def made():
    columns = ["instance_id", "method", "prompt", "kind", "order", "listed", "chain", "answer"]
    table = pd.DataFrame(WRITTEN, columns=columns)
    table["text_id"] = table.instance_id + table.method + table.prompt + table.order
    answers = table[["text_id", "chain", "answer"]].assign(answer_tokens=1, answer_finished=True, chain_tokens=None)
    return table.drop(columns=["chain", "answer"]), answers


def outputs():
    return predictions.make_outputs(PROMPTED, *made(), "m", PRONOUNS)


def estimated(rows=None):
    """Return the estimates of outputs, those to lists as the study has them alone."""
    rows = outputs() if rows is None else rows
    asked = rows[rows.order == "published"].astype({"n_distractors": str})
    return synthetic.of_models(estimates.of_prompts(asked), scoring="prompted")


def one(frame, **where):
    for key, value in where.items():
        frame = frame[frame[key] == value]
    assert len(frame) == 1, frame
    return frame.iloc[0]


def test_outputs_belong_to_every_sample_of_their_instance():
    rows = outputs()
    assert len(rows) == 3 + 2 * 3 + 2
    assert rows[rows.method == "kojima"].seed.unique().tolist() == [13]
    assert one(rows, method="kojima", answer="chain").outcome == "right"
    assert one(rows, method="kojima", answer="final").outcome == "none"
    row = one(rows, instance_id="a0", prompt="5", order="published")
    assert (row.outcome, row.named) == ("wrong", "he")
    row = one(rows, instance_id="a0", prompt="5", order="rotated")
    assert row.outcome == "right"
    row = one(rows, instance_id="b1", prompt="5", order="published", seed=17)
    assert row.outcome == "several"
    assert pd.isna(row.named)
    row = one(rows, instance_id="b1", prompt="0", method="vanilla", seed=17)
    assert (row.outcome, row.named) == ("wrong_case", "xe")


def test_a_form_of_two_sets_is_right_for_either():
    """e and ey share em."""
    sets = {
        "xe": {"nominative": "xe", "accusative": "xem", "possessive": "xyr"},
        "e": {"nominative": "e", "accusative": "em", "possessive": "es"},
        "ey": {"nominative": "ey", "accusative": "em", "possessive": "eir"},
    }
    asked = pd.DataFrame(
        [(i, 13, 0, "cook", "accusative", gold, False) for i, gold in (("a", "e"), ("b", "ey"), ("c", "xe"))],
        columns=PROMPTED.columns,
    )
    prompts = pd.DataFrame(
        [(f"{i}{p}", i, "vanilla", p, "options", "published", ["xem", "em"]) for i in "abc" for p in "56"],
        columns=["text_id", "instance_id", "method", "prompt", "kind", "order", "listed"],
    )
    answers = prompts[["text_id"]].assign(chain=None, answer="em")
    rows = predictions.make_outputs(asked, prompts, answers, "m", sets)
    first = rows[rows.prompt == "5"].set_index("instance_id")
    assert first.outcome.to_dict() == {"a": "right", "b": "right", "c": "wrong"}
    assert first.named.to_dict() == {"a": "e", "b": "ey", "c": "e or ey"}
    made = estimated(rows)
    made = made[(made.metric == "accuracy") & (made.prompt != "")]
    assert made.value[made.prompt.isin(["5", "6"])].tolist() == [pytest.approx(2 / 3)] * 2


def test_answers_to_other_prompts_are_refused():
    prompts, answers = made()
    for wrong in (
        answers.iloc[1:],
        pd.concat([answers, answers.iloc[:1]]),
        answers.assign(text_id="x" + answers.text_id),
    ):
        with pytest.raises(UserError, match="answers of m: they belong to other prompts than those of the run"):
            predictions.make_outputs(PROMPTED, prompts, wrong, "m", PRONOUNS)


def test_a_model_may_be_asked_by_fewer_methods():
    prompts, answers = made()
    rows = predictions.make_outputs(PROMPTED, prompts, answers[answers.chain.isna()], "m", PRONOUNS)
    assert set(rows.method) == {"vanilla"}


def test_accuracy_counts_every_output_and_rotated_lists_apart():
    table = estimated()
    asked = {"method": "vanilla", "answer": "final"}
    first = one(table, metric="accuracy", n_distractors="0", prompt="0", **asked)
    assert (first.below, first.value) == (1, 1)
    second = {"n_distractors": "1", "prompt": "5", **asked}
    assert one(table, metric="accuracy", **second)[["below", "value"]].tolist() == [2, 0]
    assert one(table, metric="several", **second).value == 1
    assert one(table, metric="wrong_case", n_distractors="1", prompt="0", **asked).value == 1
    assert one(table, metric="accuracy", method="kojima", answer="chain", prompt="0").value == 1
    keys = ["model", "method", "answer", "n_distractors", "prompt"]
    assert np.allclose(table.groupby(keys).value.sum(), 1)
    assert not table.duplicated([*keys, "metric"]).any()


def test_pooled_rows_are_means_over_prompts():
    table = estimated()
    row = one(table, metric="accuracy", method="vanilla", answer="final", n_distractors="0", prompt="")
    assert (row.samples, row.above, row.below, row.value) == (2, 1, 2, 0.5)
    assert row.sd == pytest.approx(np.sqrt(0.5))
    # A kind with several prompts is pooled as well.
    more = outputs()
    more = pd.concat([more, more[more.prompt == "0"].assign(prompt="1")])
    row = one(estimated(more), metric="accuracy", method="vanilla", n_distractors="0", prompt="0|1")
    assert (row.samples, row.value, row.sd) == (2, 1, 0)


def test_prompted_and_scored_models_meet_on_the_same_instances():
    scored = PROMPTED.iloc[:2].assign(model="base", setting="fidelity", correct=[True, False])
    scored = pd.concat([scored, scored.assign(seed=99)]).astype({"correct": "boolean", "n_distractors": "Int64"})
    asked = outputs().astype({"n_distractors": str})
    table = estimates.compare_with_scored(
        asked[asked.order == "published"], scored, [{"prompted": "m", "scored": "base"}]
    )
    row = one(table, n_distractors="0", model="m")
    assert (row.below, row.samples, row.value, row.lowest, row.highest) == (1, 2, 0.5, 0, 1)
    assert one(table, n_distractors="0", model="base").value == 1
    assert one(table, n_distractors="1", model="m").below == 1


SETS = synthetic.SETS[:4]
CHAT = synthetic.prompted_models()
DEMO = dict(list(synthetic.DEMONSTRATION.items())[:1])
FIGURES = ("vanilla", "final", "chain", "against_scored")


def pairs_of(models):
    return [{"prompted": name, "scored": name} for name in models]


def draw(name, folder, models, sets, tables):
    nothing = {"pronoun_tests": synthetic.pronoun_tests(DEMO, sets), "against_scored": pd.DataFrame({"templates": []})}
    paths = synthetic.write(folder, nothing | tables) | {
        kind: [str(folder / f"prompting_{name}.{kind}")] for kind in ("pdf", "png", "csv")
    }
    figures.figures(
        **paths, templates="replica", models={}, asked=models, pronoun_sets=sets,
        chance=1 / len(sets), human=0.998, methods=["vanilla", "kojima", "zhou"],
    )  # fmt: skip
    return study.read_table(paths["csv"][0])


RUNS = {
    "default": (DEMO, SETS, [0, 1, 5], ["published"]),
    "study": (CHAT, SETS, range(6), ["published", "rotated"]),
    "two-models-five-sets": (dict(list(CHAT.items())[:2]), synthetic.SETS, [2], ["published"]),
}


@functools.cache
def tables_of(run):
    """Return the tables of one of :data:`RUNS`; tests do not change them."""
    models, sets, distractors, orders = RUNS[run]
    outputs = synthetic.prompted_outputs(models, sets, distractors, list(models)[-1:], orders, size=12)
    return synthetic.prompted_tables(outputs, pairs_of(models))


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("run", RUNS)
def test_every_figure_takes_every_run_and_nothing_is_cut_off(name, run, tmp_path, monkeypatch):
    models, sets, *_ = RUNS[run]
    kept = []

    def save(drawn, frame, pdf, png, csv):
        kept.append(drawn)
        files.write_csv(csv, frame)

    monkeypatch.setattr(plotting, "save", save)
    assert len(draw(name, tmp_path, models, sets, tables_of(run)))
    width, height = kept[0].get_size_inches()
    assert width <= plotting.PAGE
    assert height <= 9
    alone = next(iter(models.values()))["label"] if len(models) == 1 else None
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert problems(kept[0], alone=alone) == []


@pytest.mark.parametrize("name", FIGURES)
def test_a_run_of_few_prompted_instances_draws_no_noise(name, tmp_path, monkeypatch):
    outputs = synthetic.prompted_outputs(DEMO, SETS, [0, 1], list(DEMO), size=4)
    tables = synthetic.prompted_tables(outputs, pairs_of(DEMO))
    kept = []
    monkeypatch.setattr(
        plotting, "save", lambda drawn, frame, pdf, png, csv: kept.append(drawn) or files.write_csv(csv, frame)
    )
    draw(name, tmp_path, DEMO, SETS, tables)
    assert problems(kept[0]) == []
    assert "Nothing is drawn" in kept[0].axes[0].texts[0].get_text()


def test_figures_show_what_they_say(tmp_path, monkeypatch):
    """The frames behind Figures 11 to 13: vanilla answers; final answers; chains beside vanilla answers."""
    monkeypatch.setattr(plotting, "save", lambda drawn, frame, pdf, png, csv: files.write_csv(csv, frame))
    outputs = synthetic.prompted_outputs(CHAT, SETS, [0, 3], ["flan-t5-xxl"], size=4)
    tables = synthetic.prompted_tables(outputs)
    vanilla = draw("vanilla", tmp_path, CHAT, SETS, tables)
    assert len(vanilla) == 8 * 2 * 10
    assert set(vanilla.method) == {"vanilla"}
    final, chain = (draw(name, tmp_path, CHAT, SETS, tables) for name in ("final", "chain"))
    for frame, answer in ((final, "final"), (chain, "chain")):
        assert set(frame.model) == {"flan-t5-xxl"}
        assert len(frame) == 3 * 2 * 10
        assert set(frame[frame.method != "vanilla"].answer) == {answer}
        assert set(frame[frame.method == "vanilla"].answer) == {"final"}


def test_the_table_has_means_and_shares():
    _, cells = tables.prompting(estimated(), {"m": {"label": "M"}})
    counts = [f"accuracy by distractors: {n}" for n in (0, 1)]
    shares = [f"no answer: {name}" for name in ("wrong case", "several", "no pronoun")]
    assert cells.columns.tolist() == ["Model", "Method", "Answer in", *counts, *shares]
    assert cells.values.tolist()[0] == ["M", "vanilla", "", "0.50 ± 0.71", "0.00 ± 0.00", "0.33", "0.33", "0.00"]
    assert ["", "Kojima", "chain", "–", "1.00", "0.00", "0.00", "0.00"] in cells.values.tolist()


def test_tables_of_prompts_keep_line_breaks(tmp_path):
    sample = pd.DataFrame(
        {"case": ["nominative", "possessive"], "text": ["No ___.", "The cook lost ___ hat & coat."],
         "options": [FORMS, ["his", "her", "their", "xyr"]]}
    )  # fmt: skip
    paths = {kind: str(tmp_path / f"made.{kind}") for kind in ("tex", "csv")}
    files.write_parquet(tmp_path / "sample.parquet", sample)
    given = {"prompt_templates": str(PROMPTS / "prompts.tsv"), "sample": str(tmp_path / "sample.parquet")} | paths

    def made():
        return files.read_csv(paths["csv"]), (tmp_path / "made.tex").read_text(encoding="utf-8")

    prompt_tables.table_prompt_templates(prompt_templates=given["prompt_templates"], kinds=["open", "options"], **paths)
    listed, tex = made()
    assert listed.Prompt.tolist() == list(range(10))
    assert tex.count(r"\newline{}") == listed.Text.str.count("\n").sum() > 0
    models, answers = {name: {"label": name.upper()} for name in "abc"}, []
    for name, wrapped in (("a", "[INST] {prompt} [/INST]"), ("b", "{prompt}"), ("c", "{prompt}")):
        answers.append(str(tmp_path / f"{name}.parquet"))
        files.write_parquet(answers[-1], pd.DataFrame({"x": [1]}), {"wrapped": wrapped})
    prompt_tables.table_prompt_examples(**given, answers=answers, models=models, blank="paper")
    cells, tex = made()
    assert cells.Model.tolist() == ["A", "B, C"]
    text = cells.iloc[1, 1]
    assert text.startswith("Fill in the blank with the appropriate pronoun.\n\nThe cook lost _______ hat & coat.\nOPT")
    assert cells.iloc[0, 1] == f"[INST] {text} [/INST]"
    assert r"hat \& coat.\newline{}OPTIONS:\newline{}- his" in tex
    chains = str(PROMPTS / "chain_of_thought.tsv")
    prompt_tables.table_chain_examples(**given, chain_templates=chains, methods=["kojima", "zhou"], blank="code")
    both, _ = made()
    assert both.shape == (4, 3)
    assert both.iloc[1, 2].endswith("step by step. [chain of thought]\nTherefore, the correct pronoun is")
    with pytest.raises(UserError, match="has no prompt '8', which the paper's example needs"):
        prompt_tables.fill_example({}, "8", sample, "code")


def test_prompted_models_are_listed_from_what_the_answers_record(tmp_path):
    paths = []
    for name, methods in (("flan-t5-xl", ["vanilla"]), ("flan-t5-xxl", ["vanilla", "kojima"])):
        paths.append(str(tmp_path / f"{name}.parquet"))
        facts = {
            "precision": "float16", "prompt_wrapping": "none", "methods": methods, "prompts": 1230,
            "revision": 40 * "a",
            "new_tokens_at_most": {"answer": 5, "chain": 128, "final": 10}, "source": {"hub": f"google/{name}"},
        }  # fmt: skip
        files.write_parquet(paths[-1], pd.DataFrame({"x": [1]}), facts)
    models = {name: CHAT[name] for name in ("flan-t5-xl", "flan-t5-xxl")}
    table = prompt_tables.prompted_models(models, paths)
    assert table.new_tokens_answer.tolist() == [5, 5]
    assert table.new_tokens_chain.isna().tolist() == [True, False]
    cells = prompt_tables.prompted_model_cells(table, models)
    new = cells[[f"new tokens: {step}" for step in ("answer", "chain", "final")]]
    assert new.values.tolist() == [["5", "–", "–"], ["5", "128", "10"]]
    assert cells.Prompts.tolist() == ["1,230"] * 2
    assert cells.Revision.tolist() == [12 * "a"] * 2
    text = latex.latex_table(cells)
    assert text.count(r"\\") == 4
    assert r"\multicolumn{3}{c}{new tokens}" in text and r"\cmidrule(lr){5-7}" in text


def test_numbers_of_the_prose_are_those_of_the_estimates():
    made = section_numbers.of_prompting(estimated(), {"seeds": 2})
    assert made["prompted_wrong.m"]["value"] == pytest.approx(1 / 6)
    assert made["prompted_outputs.vanilla.1"]["text"] == "4"
    assert made["prompted_prompts.all"]["value"] == 2
    assert made["prompting.seeds"] == {
        "value": 2, "text": "2", "source": "config.yaml", "cell": {"key": "ruff.prompting.seeds"},
    }  # fmt: skip
