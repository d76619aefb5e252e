"""RUFF's rows of the summary over all studies."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.ruff.paper import summary
from tests.ruff import synthetic

TWO, SETS = synthetic.DEMONSTRATION, synthetic.SETS


def test_accuracies_are_listed_with_their_intervals(tmp_path):
    accuracy = synthetic.tables(TWO, SETS[:4], 3, range(6))["accuracy"]
    files.write_csv(tmp_path / "accuracy.csv", accuracy)
    columns = ["model", "method", "answer", "n_distractors", "kind", "n", "accuracy"]
    prompted = [(next(iter(TWO)), *made) for made in (
        ("vanilla", "final", 0, "all", 30, 0.5), ("vanilla", "final", 0, "open", 15, 0.4),
        ("zhou", "final", 0, "all", 30, 0.3), ("vanilla", "final", 1, "all", 30, 0.6),
    )]  # fmt: skip
    files.write_csv(tmp_path / "prompted.csv", pd.DataFrame(prompted, columns=columns))
    scores = synthetic.other_scores(TWO, SETS[:4])
    files.write_csv(tmp_path / "normalisation.csv", scores)
    summary(
        accuracy=[str(tmp_path / "accuracy.csv")], prompted=[str(tmp_path / "prompted.csv")],
        normalisation=[str(tmp_path / "normalisation.csv")], summary=str(tmp_path / "summary.csv"),
        template_sets=["replica"], models=TWO, distractors=[0, 5, 3],
    )  # fmt: skip
    made = estimate_rows.read([tmp_path / "summary.csv"])
    other = made[made.normalisation.eq("tokens") & made.pronoun.eq("xe") & made.model.eq(next(iter(TWO)))]
    wanted = scores[scores.level.eq("xe") & scores.normalisation.eq("tokens")].set_index("model").loc[next(iter(TWO))]
    assert dict(zip(other.metric, other.value, strict=True)) == pytest.approx(
        {"accuracy": wanted.accuracy, "other pick": wanted.flipped}
    )
    assert set(made.normalisation) == {"", "sum", "tokens", "bytes", "context_free"}
    made = made[made.normalisation == ""]
    headline = made[made.headline]
    assert headline.n_distractors.tolist() == ["0"] * 2 + ["5"] * 2 and headline.pronoun.eq("").all()
    assert headline.model.tolist() == 2 * list(TWO) and set(made.study) == {"ruff"}
    shown = {name: facts["demonstration"] for name, facts in TWO.items()}
    assert made.demonstration.tolist() == made.model.map(shown).tolist()
    level = accuracy[(accuracy.factor == "pronoun") & (accuracy.level == "xe") & (accuracy.n_distractors == 1)]
    wanted = level[level.model == list(TWO)[1]].iloc[0]
    (row,) = estimate_rows.rows_at(made, model=list(TWO)[1], pronoun="xe", n_distractors=1).to_dict("records")
    for ours, source in (("value", "accuracy"), ("low", "ci_low"), ("high", "ci_high"), ("n", "n")):
        assert row[ours] == pytest.approx(wanted[source])
    asked = made[made.scoring == estimate_rows.PROMPTED]
    assert asked.value.tolist() == [0.5, 0.6] and asked.low.isna().all() and not asked.headline.any()
