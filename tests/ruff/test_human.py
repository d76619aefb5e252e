"""RUFF's annotators: their accuracy, and the human baseline of the figures."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.paper import plotting
from scripts.ruff import human


def test_accuracy_and_the_human_baseline(tmp_path):
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("sheet", "answers", "agreement", "accuracy")}
    sample = pd.DataFrame({"instance_id": [f"i{i:02}" for i in range(30)], "gold": "She"})
    files.write_parquet(tmp_path / "sample.parquet", sample)
    blank = pd.DataFrame({"Row": sample.instance_id, "Sentence": "___ left.", "Pronoun": "", "Annotator": ""})
    files.write_csv(paths["sheet"], blank)
    completed = []
    for name, wrong in (("Ada", 3), ("Ben", 0)):
        completed.append(str(tmp_path / f"{name}.csv"))
        blank.assign(Pronoun=["he"] * wrong + ["she"] * (30 - wrong), Annotator=name).to_csv(completed[-1], index=False)
    human.human_accuracy(samples=[str(tmp_path / "sample.parquet")], completed=completed, **paths)
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
    with plotting.figure_style():
        axes = plotting.new_figure(2, 2).subplots()
        lines = [plotting.human_line([axes], of) for of in (0.998, {"accuracy": 0.85, "label": "human, this run"})]
    assert [line.get_label() for line in lines] == ["human (0.998)", "human, this run (0.85)"]
    assert [line.get_ydata()[0] for line in axes.lines] == [0.998, 0.85]
