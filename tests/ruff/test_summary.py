"""RUFF's rows of the summary over all studies."""

import pandas as pd
import pytest

from scripts.core.data import estimate_rows
from scripts.ruff.summary import summary
from tests.ruff import synthetic

TWO, SETS = synthetic.DEMONSTRATION, synthetic.SETS


def test_accuracies_are_listed_with_their_intervals(tmp_path):
    tables = synthetic.tables(TWO, SETS[:4], 3, range(6))
    accuracy, scores = tables["estimates"], tables["normalisation"]
    asked = [
        {"model": next(iter(TWO)), "metric": "accuracy", "method": method, "answer": "final", "order": "published",
         "prompt": prompt, "n_distractors": str(n), "below": 30, "value": value}
        for method, n, prompt, value in (
            ("vanilla", 0, "", 0.5), ("vanilla", 0, "0|1", 0.4), ("zhou", 0, "", 0.3), ("vanilla", 1, "", 0.6),
        )
    ]  # fmt: skip
    asked = synthetic.of_models(asked, scoring="prompted")
    paths = synthetic.write(tmp_path, {"estimates": pd.concat([accuracy, asked]), "normalisation": scores})
    summary(
        **paths, summary=str(tmp_path / "summary.csv"), template_sets=["replica"], models=TWO, distractors=[0, 5, 3]
    )
    made = estimate_rows.read([tmp_path / "summary.csv"])
    other = made[made.normalisation.eq("tokens") & made.pronoun.eq("xe") & made.model.eq(next(iter(TWO)))]
    wanted = scores[scores.pronoun.eq("xe") & scores.normalisation.eq("tokens")].set_index("model").loc[next(iter(TWO))]
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
    level = accuracy[(accuracy.metric == "accuracy") & (accuracy.pronoun == "xe") & (accuracy.n_distractors == "1")]
    wanted = level[level.model == list(TWO)[1]].iloc[0]
    (row,) = estimate_rows.rows_at(made, model=list(TWO)[1], pronoun="xe", n_distractors=1).to_dict("records")
    for ours, source in (("value", "value"), ("low", "low"), ("high", "high"), ("n", "below")):
        assert row[ours] == pytest.approx(wanted[source])
    asked = made[made.scoring == estimate_rows.PROMPTED]
    assert asked.value.tolist() == [0.5, 0.6] and asked.low.isna().all() and not asked.headline.any()
