"""RUFF's annotators: the instances they get, their accuracy, and the human baseline of the figures."""

import numpy as np
import pandas as pd
import pytest

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.paper import plotting
from scripts.ruff import human
from scripts.ruff.instances import human_sheet


@pytest.fixture
def samples(tmp_path):
    paths = []
    for n in range(3):
        ids = [f"{n}-{i:02}" for i in range(20)]
        texts = [f"Text {i}. ___ left." for i in range(20)]
        paths.append(str(tmp_path / f"{n}.parquet"))
        files.write_parquet(
            paths[-1], pd.DataFrame({"instance_id": ids, "text": texts, "gold": "She", "n_distractors": n})
        )
    return paths


def test_the_draw_is_that_of_the_authors_script(samples, tmp_path):
    """pandas draws from the groups one after another with one generator, in the order of the files' names."""
    human_sheet(samples=samples, sheet=str(tmp_path / "sheet.csv"), instances=7, seed=131719)
    table = files.read_csv(tmp_path / "sheet.csv", dtype=str)
    random = np.random.RandomState(131719)
    expected = {f"{n}-{i:02}" for n in range(3) for i in random.choice(20, size=7, replace=False)}
    assert set(table.Row) == expected and len(table) == 21
    assert list(table) == ["Row", "Sentence", "Pronoun", "Annotator"]
    with pytest.raises(UserError, match=r"ruff.annotation.instances is 21, but a sample has 20; use at most 20"):
        human_sheet(samples=samples, sheet=str(tmp_path / "sheet.csv"), instances=21, seed=1)


def test_accuracy_and_the_human_baseline(samples, tmp_path):
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("sheet", "answers", "agreement", "accuracy")}
    human_sheet(samples=samples, sheet=paths["sheet"], instances=10, seed=1)
    blank, completed = files.read_csv(paths["sheet"], dtype=str), []
    for name, wrong in (("Ada", 3), ("Ben", 0)):
        completed.append(str(tmp_path / f"{name}.csv"))
        pronouns = ["he"] * wrong + ["she"] * (len(blank) - wrong)
        blank.assign(Pronoun=pronouns, Annotator=name).to_csv(completed[-1], index=False)
    human.human_accuracy(samples=samples, completed=completed, **paths)
    table = files.read_csv(paths["accuracy"]).set_index("annotator")
    assert table.right.to_dict() == {"Ada": 27, "Ben": 30} and set(table.n) == {30}
    # Wilson: (p + z²/2n ± z sqrt(pq/n + z²/4n²)) / (1 + z²/n) with p = 1, n = 30, z² = 3.8415.
    assert table.low["Ben"] == pytest.approx(30 / 33.841459, abs=1e-6) and table.high["Ben"] == 1
    assert human.human_baseline([paths["accuracy"]], 0.998) == {"accuracy": 0.95, "label": "human, this run"}
    assert len(files.read_csv(paths["answers"])) == 60
    assert files.read_csv(paths["agreement"]).set_index("measure").value["agreed"] == pytest.approx(0.95)


def test_the_line_is_the_published_one_without_annotators(tmp_path):
    assert human.human_baseline([], 0.998) == 0.998
    with pytest.raises(FileNotFoundError):
        human.human_baseline([str(tmp_path / "accuracy.csv")], 0.998)
    with plotting.style():
        axes = plotting.figure(2, 2).subplots()
        published = plotting.human_line([axes], 0.998)
        ours = plotting.human_line([axes], {"accuracy": 0.85, "label": "human, this run"})
    assert (published.get_label(), ours.get_label()) == ("human (0.998)", "human, this run (0.85)")
    assert [line.get_ydata()[0] for line in axes.lines] == [0.998, 0.85]
