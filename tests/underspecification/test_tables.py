"""What golden files do not show of the study's tables: a run of one model."""

import pandas as pd

from scripts.core import files
from scripts.underspecification import estimates, study, tables
from tests.conftest import ROOT
from tests.underspecification.synthetic import mgc, winogender


def test_the_metric_of_the_only_model_of_a_run_is_printed(tmp_path):
    people = [(participant, code) for participant in ("man", "woman", "someone", "other") for code in (0, 1)]
    changes = {("clerk", *who): (0.01 * place, 0.0, 0.0) for place, who in enumerate(people)}
    probabilities = [mgc(part=study.RUN), winogender(changes, part=study.RUN, values=(1901, 1904, 2012, 2016))]
    files.write_parquet(tmp_path / "probabilities.parquet", pd.concat(probabilities))
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("estimates", "curves", "metrics")}
    settings = {"threshold": 0.5, "folds": 2, "draws": 10, "seed": 1}
    estimates.estimates(probabilities=[tmp_path / "probabilities.parquet"], **paths, **settings)
    made = tmp_path / study.RUN / "metric"
    printed = str(ROOT / "paper/published/underspecification.csv")
    tables.tables(**paths, printed=printed, tex=[f"{made}.tex"], csv=[f"{made}.csv"])
    shown = made.with_suffix(".tex").read_text("utf-8")
    assert len(files.read_csv(f"{made}.csv")) == shown.count("& no &") + shown.count("& yes &") == 16
