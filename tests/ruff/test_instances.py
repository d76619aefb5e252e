from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest

from scripts.core import files
from scripts.core.data.instances import content_id
from scripts.core.data.templates import CASES
from scripts.core.errors import UserError
from scripts.ruff import instances
from scripts.ruff import narratives as assembly
from tests.ruff import small_templates


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


def expected_rows(templates, sets, n):
    replica = templates.name == "replica"
    for t, i, gold, polarity, other, indices, sentences in reference(templates, sets, n):
        task = templates.tasks[t]
        options = [table[task.case] for table in sets.values()]
        form = sets[gold][task.case]
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
            "pronoun_rows": list(range(3, 3 + len(sets))),
        }


@pytest.mark.parametrize(
    ("n", "names"),
    [
        (0, ["he", "she", "they", "xe"]),
        (1, ["xe", "they", "he"]),
        (2, ["he", "she", "they", "xe"]),
        (3, ["he", "she", "ze"]),
        (4, ["he", "she"]),
        (5, ["they", "he"]),
        (1, ["he", "she", "they", "xe", "ze"]),
    ],
)
def test_full_sets_are_the_generators_rows_in_its_order(tmp_path, n, names):
    # Participants as in the paper: two occupations share one.
    given = small_templates.given(small_templates.write(tmp_path, sets=[*names]))
    target = tmp_path / "out.parquet"
    instances.instances(pronoun_sets=names, n_distractors=n, instances=str(target), **given)
    made = assembly.load(pronoun_sets=names, **given)
    rows = files.read_arrow(target).to_pylist()
    assert rows == list(expected_rows(made.templates, made.sets, n))
    assert len(rows) == made.full_size(n) == assembly.full_size(n, len(names), 9)


def sizes_table(folder, distractors, **given):
    """Return the rows that the job of Table 1 writes, and the lines of template files that they name."""
    target = folder / "full_set_sizes.parquet"
    instances.full_set_sizes(distractors=distractors, full_set_sizes=str(target), **given)
    return files.read_parquet(target).set_index("n_distractors"), files.parquet_metadata(target)["origins"]


def assert_counts_are_those_of_made_sets(folder, distractors, given):
    """Every full set is made: it has as many rows as are counted, all different and of the lines that are named."""
    table, origins = sizes_table(folder, distractors, **given)
    made = assembly.load(**given)
    for n in distractors:
        target = folder / f"distractors{n}.parquet"
        instances.instances(n_distractors=n, instances=str(target), **given)
        rows = files.read_arrow(target)
        assert table.instances[n] == len(rows) == sum(1 for _ in reference(made.templates, made.sets, n))
        assert len(rows["instance_id"].unique()) == len(rows)
        assert files.parquet_metadata(target)["origins"] == origins
        for column in origins:
            lines = rows[column].combine_chunks()
            lines = lines.flatten() if pa.types.is_list(lines.type) else lines
            assert set(table[column][n]) == set(lines.unique().to_pylist())


def test_counts_are_those_of_the_replicas_full_sets(root, tmp_path):
    folder = root / "templates"
    given = {
        "templates": [str(folder / path) for path in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")],
        "pronouns": str(folder / "pronouns.tsv"),
        "pronoun_sets": ["he", "she", "they", "xe"],
    }
    assert_counts_are_those_of_made_sets(tmp_path, [0, 1, 2], given)


@pytest.mark.parametrize(
    ("occupations", "names"), [(["weaver"], ["he", "she", "xe"]), (["weaver", "pilot"], ["xe", "he"])]
)
def test_counts_follow_templates_and_pronoun_sets(tmp_path, occupations, names):
    chosen = {name: small_templates.OCCUPATIONS[name] for name in occupations}
    paths = small_templates.write(tmp_path, occupations=chosen)
    assert_counts_are_those_of_made_sets(tmp_path, range(6), {**small_templates.given(paths), "pronoun_sets": names})


def test_counts_of_the_authors_archive_name_its_lines(tmp_path):
    archive = tmp_path / "data.zip"
    archive.write_bytes(small_templates.archive())
    pronouns = small_templates.write(tmp_path)["pronouns"]
    given = {"templates": [str(archive)], "pronouns": pronouns, "pronoun_sets": ["he", "she"]}
    assert_counts_are_those_of_made_sets(tmp_path, [0, 2], given)


def test_batches_meet_at_any_row(tmp_path):
    made = small_templates.load(tmp_path)
    whole = pa.Table.from_batches(made.full(2)).column("text")
    parts = pa.Table.from_batches(made.full(2, rows_per_batch=1000)).column("text")
    assert whole.to_pylist() == parts.to_pylist()


def test_counts_are_those_of_table_1():
    assert [assembly.full_size(n, 4, 180) for n in range(6)] == [
        7_200,
        86_400,
        345_600,
        1_036_800,
        2_073_600,
        2_073_600,
    ]


def test_six_distractors_are_refused():
    with pytest.raises(UserError, match="6 distractors are not possible; use 0 to 5"):
        assembly.full_size(6, 4, 180)


def test_files_read_back_plain(tmp_path):
    target = tmp_path / "out.parquet"
    given = small_templates.given(small_templates.write(tmp_path))
    instances.instances(pronoun_sets=["he", "she"], n_distractors=1, instances=str(target), **given)
    schema = files.read_arrow(target).schema
    assert not any(pa.types.is_dictionary(kind) for kind in schema.types)
    assert schema.field("options").type == pa.list_(pa.string())
    assert schema.field("n_distractors").type == schema.field("introduction_index").type == pa.int8()
    assert schema.field("distractor_indices").type == pa.list_(pa.int8())


def test_every_text_has_one_slot_and_every_id_is_unique(tmp_path):
    made = small_templates.load(tmp_path)
    table = pa.Table.from_batches([batch for n in range(4) for batch in made.full(n)])
    texts = table.column("text").to_pylist()
    assert all(text.count("___") == 1 and "{" not in text for text in texts)
    assert len(set(table.column("instance_id").to_pylist())) == len(set(texts)) == len(texts) > 70_000


def test_the_order_of_configured_sets_changes_ids_because_it_breaks_ties(tmp_path):
    ids = [
        set(small_templates.load(tmp_path, sets=names).table(0, np.arange(180)).column("instance_id").to_pylist())
        for names in (["he", "she"], ["she", "he"])
    ]
    assert not ids[0] & ids[1]


def test_context_free_instances_are_the_bare_task_sentences(tmp_path):
    target = tmp_path / "out.parquet"
    given = small_templates.given(small_templates.write(tmp_path))
    instances.context_free(pronoun_sets=["he", "she", "xe"], context_free=str(target), **given)
    table = files.read_arrow(target)
    assert table.schema.remove_metadata() == assembly.sample_schema()
    rows = table.to_pylist()
    assert [row["task_index"] for row in rows] == list(range(9))
    assert [row["case"] for row in rows[:3]] == list(CASES)
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


def test_official_texts_keep_their_double_blanks(tmp_path):
    archive = tmp_path / "data.zip"
    archive.write_bytes(small_templates.archive())
    target = tmp_path / "out.parquet"
    pronouns = small_templates.write(tmp_path)["pronouns"]
    given = {"templates": [str(archive)], "pronouns": pronouns, "pronoun_sets": ["he", "she"]}
    instances.instances(n_distractors=2, instances=str(target), **given)
    table = files.read_arrow(target)
    made = assembly.load(**given)
    assert table.to_pylist() == list(expected_rows(made.templates, made.sets, 2))
    doubled = [("  " in row["text"], row["polarity"]) for row in table.select(["text", "polarity"]).to_pylist()]
    # In the synthetic archive the positive implicit sentences end in a blank; they follow negative introductions.
    assert set(doubled) == {(True, "negative"), (False, "positive")}
    assert files.parquet_metadata(target)["templates"] == "official"


@pytest.mark.upstream
def test_official_sets_have_the_published_sizes(tmp_path, mirror):
    pronouns = small_templates.write(tmp_path)["pronouns"]
    made = assembly.load([str(mirror / "ruff" / "data.zip")], pronouns, ["he", "she", "they", "xe"])
    assert [made.full_size(n) for n in (0, 1, 5)] == [7_200, 86_400, 2_073_600]
    table = pa.Table.from_batches(made.full(1)).combine_chunks()
    assert len(set(table.column("text").to_pylist())) == len(table) == 86_400
