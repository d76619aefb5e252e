"""Full sets are those of the authors' generator, samples those that pandas would draw of them."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from scripts.core import files
from scripts.core.data.instances import content_id
from scripts.core.data.templates import CASES
from scripts.ruff import instances, narratives, plan
from scripts.ruff.templates import PLACEHOLDERS
from tests.conftest import ROOT
from tests.refusals import refused
from tests.ruff import small_templates
from tests.ruff.synthetic import FOUR

REPLICA = {
    "templates": [str(ROOT / "templates" / path) for path in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")],
    "pronouns": str(ROOT / "templates/pronouns.tsv"),
}


def reference(templates, sets, n):
    """The authors' generator, told once more: plain loops over the templates (Appendix B)."""

    def capital(sentence):
        return sentence[0].upper() + sentence[1:]

    for t, task in enumerate(templates.tasks):
        contexts = templates.contexts[task.case]
        forms = {name: table[task.case] for name, table in sets.items()}
        for i, introduction in enumerate(contexts):
            for gold in sets:
                start = capital(introduction.explicit.format(person=task.occupation, pronoun=forms[gold]))
                end = task.sentence.format(pronoun="___")
                opposite = [j for j, c in enumerate(contexts) if c.polarity != introduction.polarity]
                row = (t, i, gold, introduction.polarity)
                if n == 0:
                    yield (*row, None, [], [start, end])
                    continue
                for first in (j for j in opposite if j % 5 != i % 5):
                    rest = [j for j in opposite if j != first]
                    for other in (name for name in sets if name != gold):
                        for later in permutations(rest, n - 1):
                            middle = [contexts[first].explicit.format(person=task.participant, pronoun=forms[other])]
                            middle += [contexts[j].implicit.format(pronoun=forms[other]) for j in later]
                            yield (*row, other, [first, *later], [start, *map(capital, middle), end])


def expected_rows(made, n):
    replica = made.templates.name == "replica"
    for t, i, gold, polarity, other, indices, sentences in reference(made.templates, made.sets, n):
        task = made.templates.tasks[t]
        options = [table[task.case] for table in made.sets.values()]
        form = made.sets[gold][task.case]
        yield {
            "instance_id": content_id("ruff", *sentences, "|".join(options), form),
            "text": " ".join(sentences),
            "options": options,
            "gold": form,
            "case": task.case,
            "occupation": task.occupation,
            "participant": task.participant,
            "pronoun": gold,
            "distractor_pronoun": other,
            "n_distractors": n,
            "task_index": t,
            "introduction_index": i,
            "distractor_indices": indices,
            "polarity": polarity,
            # Files begin with a header, the replica's with a comment before it; contexts stand in the order of cases.
            "task_row": t + (3 if replica else 2),
            "context_rows": [10 * CASES.index(task.case) + j + (3 if replica else 2) for j in (i, *indices)],
            "occupation_row": list(small_templates.OCCUPATIONS).index(task.occupation) + 3 if replica else None,
            "pronoun_rows": list(range(3, 3 + len(made.sets))),
        }


FULL = {
    "none": (0, FOUR), "one": (1, ["xe", "they", "he"]), "two": (2, FOUR), "three": (3, ["he", "she", "ze"]),
    "four": (4, ["he", "she"]), "five": (5, ["they", "he"]), "five-sets": (1, [*FOUR, "ze"]),
}  # fmt: skip


@pytest.mark.parametrize(("n", "names"), FULL.values(), ids=FULL)
def test_full_sets_are_the_generators_rows_in_its_order(tmp_path, n, names):
    given = small_templates.given(tmp_path, sets=names)
    target = tmp_path / "out.parquet"
    instances.instances(pronoun_sets=names, n_distractors=n, instances=str(target), **given)
    made = narratives.load(pronoun_sets=names, **given)
    table = files.read_arrow(target)
    assert table.to_pylist() == list(expected_rows(made, n))
    assert len(table) == len(table["instance_id"].unique()) == narratives.full_size(n, len(names), 9)
    assert table.schema.remove_metadata() == narratives.SCHEMA
    parts = pa.Table.from_batches(made.full(n, rows_per_batch=1000))
    assert parts["text"].to_pylist() == table["text"].to_pylist()


def test_official_texts_keep_their_double_blanks(tmp_path):
    given = small_templates.given_archive(tmp_path) | {"pronoun_sets": ["he", "she"]}
    target = tmp_path / "out.parquet"
    instances.instances(n_distractors=2, instances=str(target), **given)
    rows = files.read_arrow(target).to_pylist()
    assert rows == list(expected_rows(narratives.load(**given), 2))
    # In the synthetic archive the positive implicit sentences end in a blank; they follow negative introductions.
    assert {("  " in row["text"], row["polarity"]) for row in rows} == {(True, "negative"), (False, "positive")}
    assert files.parquet_metadata(target)["templates"] == "official"


def test_context_free_instances_are_the_bare_task_sentences(tmp_path):
    target = tmp_path / "out.parquet"
    given = small_templates.given(tmp_path)
    instances.context_free(pronoun_sets=["he", "she", "xe"], context_free=str(target), **given)
    table = files.read_arrow(target)
    assert table.schema.remove_metadata() == narratives.SAMPLE_SCHEMA
    rows = table.to_pylist()
    assert [(row["task_index"], row["case"]) for row in rows] == [(i, CASES[i % 3]) for i in range(9)]
    missing = "gold pronoun distractor_pronoun n_distractors introduction_index distractor_indices polarity seed"
    assert rows[1] == {
        "instance_id": content_id("ruff", rows[1]["text"], "him|her|xem", ""),
        "text": "The weaver hoped that the invoice would reach ___ in time.",
        "options": ["him", "her", "xem"],
        "case": "accusative",
        "occupation": "weaver",
        "participant": "buyer",
        "task_index": 1,
        "task_row": 4,
        "context_rows": [],
        "occupation_row": 3,
        "pronoun_rows": [3, 4, 6],
        **dict.fromkeys(missing.split()),
    }


def test_ids_are_unique_and_follow_the_order_of_sets_because_it_breaks_ties(tmp_path):
    made = small_templates.load(tmp_path)
    table = pa.Table.from_batches([batch for n in range(4) for batch in made.full(n)])
    texts = table["text"].to_pylist()
    assert all(text.count("___") == 1 and "{" not in text for text in texts)
    assert len(table["instance_id"].unique()) == len(set(texts)) == len(texts) > 70_000
    one, other = (
        set(small_templates.load(tmp_path, sets=names).table(0, np.arange(180))["instance_id"].to_pylist())
        for names in (["he", "she"], ["she", "he"])
    )
    assert not one & other


def test_counts_are_those_of_table_1():
    counts = [7_200, 86_400, 345_600, 1_036_800, 2_073_600, 2_073_600]
    assert [narratives.full_size(n, 4, 180) for n in range(6)] == counts
    with refused("ruff.distractors", "6", "0 to 5"):
        narratives.full_size(6, 4, 180)


def pandas_sample(made, n, seed):
    """Draw with pandas from the full set, grouped by the authors' names of the cases."""
    full = pa.Table.from_batches(made.full(n)).to_pandas()
    full["placeholder"] = full["case"].map(PLACEHOLDERS)
    if n:
        full["distractor"] = [made.sets[row.distractor_pronoun][row.case] for row in full.itertuples()]
    keys = ["occupation", "placeholder", "gold", *(["distractor"] if n else [])]
    drawn = full.groupby(keys).sample(n=1 if n else len(made.sets) - 1, random_state=seed)
    return drawn.instance_id.tolist()


SAMPLED = {
    "none": (0, FOUR), "one": (1, FOUR), "two": (2, FOUR), "three-sets": (2, ["xe", "he", "they"]),
    "five-sets": (0, ["ze", *FOUR]),
}  # fmt: skip


@pytest.mark.parametrize("seed", [13, 17])
@pytest.mark.parametrize(("n", "names"), SAMPLED.values(), ids=SAMPLED)
def test_samples_are_those_of_pandas(tmp_path, n, names, seed):
    made = small_templates.load(tmp_path, sets=names)
    drawn = made.sample(n, seed)
    assert drawn["instance_id"].to_pylist() == pandas_sample(made, n, seed)
    assert len(drawn) == 9 * len(names) * (len(names) - 1)
    # Its rows are rows of the full set.
    rows = pa.Table.from_batches(made.full(n)).combine_chunks().take(pa.array(made.sample_rows(n, seed)))
    assert [{**row, "seed": seed} for row in rows.to_pylist()] == drawn.to_pylist()


@pytest.mark.upstream
@pytest.mark.parametrize("n", [0, 1])
def test_official_samples_are_those_of_pandas(mirror, n):
    given = REPLICA | {"templates": [str(mirror / "ruff" / "data.zip")], "pronoun_sets": FOUR}
    made = narratives.load(**given)
    for seed in (13, 17, 19):
        drawn = made.sample(n, seed)
        assert len(drawn) == plan.full_sample(4) == 2160
        assert drawn["instance_id"].to_pylist() == pandas_sample(made, n, seed)
    assert narratives.full_size(5, 4, len(made.templates.tasks)) == 2_073_600


def test_more_sets_than_introductions_allow_are_refused(tmp_path):
    many = {f"s{i}": dict.fromkeys(CASES, f"s{i}") for i in range(12)}
    with refused("pronoun_sets", "12 sets", "at most 11"):
        narratives.Narratives(small_templates.load(tmp_path).templates, many).sample(0, 13)
