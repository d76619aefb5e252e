"""Published numbers beside ours: every one that a run of the study's models can have is found."""

import pandas as pd
import pytest

from scripts.core import files
from scripts.core.statistics.ratios import POOLED
from scripts.misgendered import corpora, input_tables, instances, published, study
from tests.misgendered import make, synthetic

PUBLISHED = {
    name: str(make.ROOT / f"paper/published/misgendered{end}.csv")
    for name, end in (("published", ""), ("mapping", "_mapping"), ("study_models", "_models"))
}
COUNTS = [("c4", group, count) for group, count in (("he", 500), ("xe", 2), ("she", 300))]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """Return the estimates of a run of all models, and its comparison."""
    folder = tmp_path_factory.mktemp("run")
    paths = {name: str(folder / f"{name}.csv") for name in ("estimates", "corpus_counts", "sizes", "declared", "asked")}
    models, sources = synthetic.STUDY_MODELS, make.sources()
    made = synthetic.write(folder / "p.parquet", synthetic.predicted(list(models), 330))
    estimated = synthetic.estimated(made, 20, study_models=list(models))
    files.write_csv(paths["estimates"], estimated)
    counts = pd.DataFrame(COUNTS, columns=["corpus", "group", "count"])
    files.write_csv(paths["corpus_counts"], counts.assign(quantity=corpora.SUM))
    instances.sizes(**sources, template_sets={"replica": 2}, sizes=paths["sizes"])
    loaded = instances.load(**sources)
    input_tables.write_declarations(str(folder / "t.tex"), paths["declared"], loaded)
    input_tables.write_models(str(folder / "t.tex"), paths["asked"], models)
    written = {kind: str(folder / f"out.{kind}") for kind in ("csv", "tex")} | {"numbers": str(folder / "out.json")}
    published.published_vs_ours(
        **PUBLISHED, **paths, **written, template_sets=["replica"], every_set=["replica", "official"], models=models,
        pronoun_sets=list(study.PRONOUN_GROUPS),
    )  # fmt: skip
    return estimated, files.read_csv(written["csv"]).query("templates == 'replica'")


def test_every_number_without_examples_is_found(compared):
    rows = compared[1]
    of_models = rows[(rows.variant == "likelihood") & rows.table.notna()]
    lacking = of_models[of_models.verdict == "not run"]
    # No model has examples in this run.
    assert len(of_models) > 100 and lacking.cells.str.contains("shots=(?!0)").all()
    assert len(rows.drop_duplicates(["item", "row", "column"])) == 209


def test_ratios_are_of_our_accuracies_and_counts(compared):
    estimated, rows = compared
    ours = rows.drop_duplicates(["item", "row"]).set_index("row").ours
    of_names = (
        study.estimates_by(estimated, "group", "name_class", model=POOLED).set_index(["group", "name_class"]).value
    )
    of_types = study.estimates_by(estimated, "pronoun_type", model=POOLED).set_index("pronoun_type").value
    expected = {
        "He | male over female names": of_names["he", "male"] / of_names["he", "female"],
        "She | female over male names": of_names["she", "female"] / of_names["she", "male"],
        "Neutral over Binary": of_types["neutral"] / of_types["binary"],
        "he over xe": 250,
    }
    assert {row: ours[row] for row in expected} == pytest.approx(expected)
    # Table 4 is of all models of the study.
    neo = rows[(rows.source == "Table 4") & (rows["row"] == "Neopronouns")].ours.item()
    assert neo == pytest.approx(100 * of_types["neo"])
