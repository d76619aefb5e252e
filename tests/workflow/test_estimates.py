"""Estimates lead back to exactly what they were computed from: n and value come again from the rows of their trace."""

import numpy as np
import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError
from scripts.core.provenance import trace
from scripts.core.provenance.origins import Origins
from scripts.provenance import run_state
from tests.workflow.conftest import TARGETS

pytestmark = pytest.mark.workflow

DRAWN = 200
"""How many rows of the summary are looked at, so many of each study."""


@pytest.fixture(scope="module")
def origins(complete):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(complete)
        planned = run_state.plan_run(["config/test.yaml"], TARGETS, [], {})
        yield Origins(planned["jobs"], planned["traced"], run_state.locate, planned["outcomes"])


@pytest.fixture(scope="module")
def rows(origins):
    return files.read_csv("results/paper/summary.csv")


def drawn(rows):
    """Return rows of all studies, models, metrics and ways of scoring, as evenly as they come."""
    generator = np.random.default_rng(7)
    shuffled = rows.iloc[generator.permutation(len(rows))]
    turn = shuffled.groupby(["study", "part", "model", "scoring", "metric"], dropna=False).cumcount()
    return shuffled.assign(turn=turn).sort_values("turn", kind="stable")[:DRAWN].drop(columns="turn").to_dict("records")


def instances(origins, row):
    """Yield the tables behind an estimate with their rows; texts have what is counted of their instances."""
    folder = f"results/{row['study']}/instances/"
    made = [path for path in origins.makers if path.startswith(folder) and path.endswith(".parquet")]
    counted = estimate_rows.UNITS[row["n_unit"]]
    for table, mask in origins.instances_of(row).items():
        frame = files.read_parquet(table)[mask.to_numpy(zero_copy_only=False)]
        for given in map(files.read_parquet, made):
            lacking = [name for name in counted if name in given and name not in frame]
            if lacking and "instance_id" in frame:
                both = frame.merge(given[["instance_id", *lacking]].drop_duplicates(), on="instance_id")
                frame = both if len(both) == len(frame) else frame
        yield table, frame


def count(frames, unit):
    found = set()
    for frame in frames:
        named = [name for name in estimate_rows.UNITS[unit] if name in frame]
        assert named, unit
        found |= set(frame[named].itertuples(index=False, name=None))
    return len(found)


def test_n_counts_the_rows_that_the_trace_names(origins, rows):
    sample = drawn(rows)
    assert {row["study"] for row in sample} == set(rows.study) and len(sample) == DRAWN
    checked = 0
    for row in sample:
        frames = [frame for _, frame in instances(origins, row)]
        assert frames, row
        if estimate_rows.UNITS[row["n_unit"]]:
            assert count(frames, row["n_unit"]) == row["n"], row
            checked += 1
    assert checked > 0.8 * DRAWN


def right(row, frame):
    """Return which instances a model was right on, by identifier, from its outputs alone."""
    study, part, model = row["study"], row["part"], row["model"]
    if study in ("ruff", "misgendered"):
        folder = "selected" if study == "ruff" else None
        name = part if study == "ruff" or row["shots"] == 0 else f"{part}_few_{row['shots']:.0f}"
        scores = files.read_parquet(f"results/{study}/scores/{name}/{model}.parquet")
        declared = "log_probability" if folder else "mean_log_probability"
        best = scores.sort_values(["instance_id", declared, "option_index"], ascending=[True, False, True])
        best = best.drop_duplicates("instance_id").set_index("instance_id").option
        gold = frame.drop_duplicates("instance_id").set_index("instance_id").gold
        return best.reindex(gold.index) == gold
    if study == "winopron":
        found = files.read_parquet(f"results/winopron/predictions/{part}/{row['entities']}.parquet")
        found = found[(found.model == row["model"]) & (found.reading == "corrected")]
        return found[found.instance_id.isin(frame.instance_id)].right
    flags = files.read_parquet(f"results/counter_gap/predictions/{part}.parquet")
    debiasing = row["debiasing"] if isinstance(row["debiasing"], str) else "none"
    flags = flags[(flags.model == model) & (flags.debiasing == debiasing) & (flags.reading != "published")]
    return flags[flags.id.isin(frame.id)].correct


def test_accuracies_are_those_of_the_rows_that_the_trace_names(origins, rows):
    plain = rows[(rows.metric == "accuracy") & rows.normalisation.isna() & ~rows.scoring.isin([estimate_rows.PROMPTED])]
    plain = plain[~plain.scoring.isin([estimate_rows.FULL, estimate_rows.PARTIAL])]
    studies = set()
    for row in drawn(plain):
        found = [(frame, right(row, frame)) for _, frame in instances(origins, row)]
        hits = np.concatenate([
            # A sample of RUFF may hold an instance twice, with two seeds.
            frame.instance_id.map(made).to_numpy() if row["study"] == "ruff" else made.to_numpy()
            for frame, made in found
        ]).astype(bool)  # fmt: skip
        assert hits.mean() == pytest.approx(row["value"], abs=1e-9), row
        studies.add(row["study"])
    assert studies == {"ruff", "misgendered", "winopron", "counter_gap"}


FIRST_PAGE = [f"results/paper/{name}.csv" for name in ("figures/headlines", "figures/scores", "tables/scores")]


def test_the_first_page_leads_where_its_rows_of_the_summary_lead(origins, rows):
    """Numbers drop empty factors, and figures print shares in percent."""
    identity = estimate_rows.identity(rows)
    told = {tuple(map(estimate_rows.plain_cell, map(row.get, identity))): row for row in rows.to_dict("records")}
    asked = [(path, row, None) for path in FIRST_PAGE for row in files.read_csv(path).to_dict("records")]
    numbers = {name: entry for name, entry in trace.numbers(origins.jobs).items() if name.startswith("paper.")}
    asked += [(entry["path"], entry["cell"], entry["value"]) for entry in numbers.values()]
    assert {row["study"] for _, row, _ in asked} == set(rows.study) and len(numbers) > 10
    for path, row, value in asked:
        estimate = told[tuple(estimate_rows.plain_cell(row.get(name)) for name in identity)]
        assert value is None or value == estimate["value"]
        found = origins.origins_of(path, [row])
        assert found == origins.of_estimate(estimate), (path, row)
        assert {entry["table"].split("/")[1] for entry in found} == {row["study"]}
        unit = estimate["n_unit"]
        if estimate_rows.UNITS[unit]:
            assert count((frame for _, frame in instances(origins, estimate)), unit) == estimate["n"], row
    sentence = next(entry for entry in origins.origins_of(*asked[0][:1], [asked[0][1]]) if "task" in entry["file"])
    line = sentence["file"], sentence["rows"][0]
    moved = {row["study"] for path, row, _ in asked if origins.origins_of(path, [row], row_of=line)}
    assert moved == {"ruff"}


def test_a_row_that_the_summary_lacks_is_refused(origins):
    row = files.read_csv(FIRST_PAGE[0]).iloc[0].to_dict() | {"model": "nobody"}
    with pytest.raises(UserError, match=r"headlines.csv: results/paper/summary.csv has no row for ruff, \w+, nobody"):
        origins.origins_of(FIRST_PAGE[0], [row])


def test_cells_of_prompted_and_brought_systems_name_their_own_texts(origins, rows):
    """Predictions join what was prompted, what was scored, and clusters that were brought."""
    path = "results/winopron/estimates.csv"
    plain = rows[(rows.study == "winopron") & (rows.metric == "accuracy") & (rows.kind != estimate_rows.HEURISTIC)]
    plain = plain[~plain.scoring.isin([estimate_rows.FULL, estimate_rows.PARTIAL])].fillna({"scoring": ""})
    cells = files.read_csv(path, dtype={"prompt": str}).query("metric == 'accuracy' and reading == 'corrected'")
    identity = ["model", "scoring", "entities", "case", "prompt"]
    cells = cells[cells.pronoun_set.isna()].fillna(dict.fromkeys(identity, ""))
    assert set(plain.scoring) == {"", estimate_rows.CLUSTERS, estimate_rows.PROMPTED}
    for row in plain.fillna(dict.fromkeys(identity, "")).to_dict("records"):
        (cell,) = cells[(cells[identity] == [row[name] for name in identity]).all(axis=1)].to_dict("records")
        assert origins.origins_of(path, [cell], "value") == origins.of_estimate(row), cell


def test_likelihoods_lead_to_the_templates_that_were_scored(origins, rows):
    full = rows[(rows.study == "winopron") & (rows.scoring == estimate_rows.FULL) & (rows.metric == "accuracy")]
    whole = full[full.case.isna()].iloc[0].to_dict()
    (found,) = instances(origins, whole)
    assert found[0] == "results/winopron/instances/replica/selected.parquet"
    assert len(found[1]) == len(files.read_parquet(found[0]))
    # Of a prompted model the prompts, of a system the sentences.
    for scoring, folder in ((estimate_rows.PROMPTED, "prompts"), (estimate_rows.CLUSTERS, "instances")):
        row = rows[(rows.study == "winopron") & (rows.scoring == scoring)].iloc[0].to_dict()
        assert {table.split("/")[2] for table, _ in instances(origins, row)} == {folder}, row


def test_demonstration_systems_are_called_so(rows):
    labels = rows[rows.label.str.contains("(demonstration)", regex=False)]
    assert labels.demonstration.all()


def test_what_no_model_put_out_is_refused(origins, rows):
    row = rows[rows.study == "ruff"].iloc[0].to_dict() | {"study": "other", "model": "nobody"}
    with pytest.raises(UserError, match="this run has no outputs of nobody below results/other/scores/"):
        origins.instances_of(row)
