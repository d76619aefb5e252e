"""What people are asked about RUFF, and the line that their accuracy makes in the figures."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import annotation
from scripts.core.data.templates import CASES
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.ruff.instances import fidelity_questions, validation_questions
from scripts.ruff.lib import instances, people


@pytest.fixture(scope="module")
def templates(root):
    return [str(root / "templates" / name) for name in ("ruff/task.tsv", "ruff/context.tsv", "occupations.tsv")]


def test_every_template_is_judged_with_every_pronoun_set_about_as_often(root, templates, tmp_path):
    path = str(tmp_path / "questions.parquet")
    sets = ["he", "she", "they", "xe"]
    validation_questions(
        templates=templates, pronouns=str(root / "templates/pronouns.tsv"), pronoun_sets=sets,
        declaration=str(root / "templates/annotation/ruff_validation.yaml"), questions=path,
    )  # fmt: skip
    task = annotation.load(path)
    kinds = task.items.item_id.str.extract(r"^(task|context).*-(\w+)$").agg(" ".join, axis=1).value_counts().to_dict()
    # 180 task sentences, each with a question about both people; 30 context templates in both forms.
    assert kinds == {"task occupation": 180, "task participant": 180, "context explicit": 30, "context implicit": 30}
    assert not task.items.sentence.str.contains("[{}_]").any()
    assert task.items.sentence.str.match("[A-Z]").all()
    by_end = task.items.groupby(task.items.item_id.str.rsplit("-").str[-1]).expected.unique().map(list).to_dict()
    assert by_end == {"occupation": ["yes"], "participant": ["no"], "explicit": ["yes"], "implicit": [""]}
    narratives = instances.load(templates, str(root / "templates/pronouns.tsv"), sets)
    forms = {form: name for name in sets for form in (narratives.sets[name][case] for case in CASES)}
    asked = task.items.question.str.extract(r"pronoun (\w+) refer")[0].dropna().map(forms).value_counts()
    assert asked.max() - asked.min() <= 4
    # The same sentence twice is one group.
    assert task.items.group.nunique() == 180 + 60


def sample(n, rows):
    return pd.DataFrame(
        {
            "instance_id": [f"{n}-{i}" for i in range(rows)], "text": [f"Text {i}. ___ left." for i in range(rows)],
            "gold": "she", "n_distractors": n,
        }
    )  # fmt: skip


def test_so_many_instances_of_each_number_of_distractors(root, tmp_path):
    samples = []
    for n in range(3):
        samples.append(str(tmp_path / f"{n}.parquet"))
        files.write_parquet(samples[-1], sample(n, 20))
    path = str(tmp_path / "questions.parquet")
    arguments = {"declaration": str(root / "templates/annotation/ruff_fidelity.yaml"), "questions": path}
    fidelity_questions(samples=samples, instances=7, seed=1, **arguments)
    task = annotation.load(path)
    assert task.items.item_id.str[0].value_counts().to_dict() == {"0": 7, "1": 7, "2": 7}
    assert set(task.items.expected) == {"she"} and task.items.item_id.is_unique
    again = people.fidelity([sample(n, 20) for n in range(3)], 7, 2)
    assert set(again.item_id) != set(task.items.item_id)
    with pytest.raises(UserError, match=r"ruff.annotation.instances: 21 are wanted and a sample has 20; ask for fewer"):
        fidelity_questions(samples=samples, instances=21, seed=1, **arguments)


def test_the_line_is_the_published_one_until_people_were_asked(tmp_path):
    path = tmp_path / "accuracy.csv"
    assert people.human_baseline([], 0.998) == 0.998
    with pytest.raises(FileNotFoundError):
        people.human_baseline([path], 0.998)
    rows = [("pronoun", "Ada", 10, 9, 0.9), ("pronoun", "Ben", 10, 8, 0.8), ("pronoun", None, 20, 17, 0.85)]
    table = pd.DataFrame(rows, columns=["question", "annotator", "n", "right", "accuracy"])
    files.write_csv(path, table)
    assert people.human_baseline([path], 0.998) == {"accuracy": 0.85, "label": "human, this run"}
    files.write_csv(path, table.iloc[:1])
    assert people.human_baseline([path], 0.998)["accuracy"] == 0.9


def test_the_line_says_whose_it_is():
    with plotting.style():
        axes = plotting.figure(2, 2).subplots()
        published = plotting.human_line([axes], 0.998)
        ours = plotting.human_line([axes], {"accuracy": 0.85, "label": "human, this run"})
    assert (published.get_label(), ours.get_label()) == ("human (0.998)", "human, this run (0.85)")
    assert [line.get_ydata()[0] for line in axes.lines] == [0.998, 0.85]
