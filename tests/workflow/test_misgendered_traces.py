"""From a number, a cell or a figure of MISGENDERED back to instances, lines of templates and names, and weights."""

import re

import pytest

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.provenance.trace import ranges

pytestmark = pytest.mark.workflow

STUDY = "results/misgendered"
ZERO, FEW = (f"{STUDY}/instances/{name}/selected.parquet" for name in ("replica", "replica_few_1"))
ACCURACY = f"{STUDY}/estimates.csv:model=tiny-opt,shots={{}},declaration_number={{}},name_class={{}}," \
    "pronoun_type=neo,draw=,declaration_type=,group=,form=,name=:value"  # fmt: skip


def declaring(*numbers):
    return {"declaration_number": list(numbers)}


# What is asked for; the instances that it rests on, as levels of their columns, by file; the model whose weights it
# rests on, or None for all models.
TRACES = {
    "misgendered.replica.accuracy.model.probability.corrected.0.neo.value": ({ZERO: {"pronoun_type": ["neo"]}}, None),
    "misgendered.replica.sum.neo.after": ({ZERO: {"pronoun_type": ["neo"]}}, None),
    "misgendered.replica.choice.capitals.other_pick": ({ZERO: {}}, None),
    "misgendered.replica.scored.instances": ({ZERO: {}}, None),
    "misgendered.replica.scored.examples.instances": ({FEW: {}}, None),
    ACCURACY.format(0, "41|42", ""): ({ZERO: {"pronoun_type": ["neo"]} | declaring(41, 42)}, "tiny-opt"),
    ACCURACY.format(0, 5, ""): ({ZERO: {"pronoun_type": ["neo"]} | declaring(5)}, "tiny-opt"),
    ACCURACY.format(0, "", "male"): ({ZERO: {"pronoun_type": ["neo"], "name_class": ["male"]}}, "tiny-opt"),
    ACCURACY.format(1, "", ""): ({FEW: {"pronoun_type": ["neo"]}}, "tiny-opt"),
    f"{STUDY}/tables/replica/forms.csv:model=tiny-llama,form=ref,pronoun_type=binary:value": (
        {ZERO: {"form": ["ref"], "pronoun_type": ["binary"]}}, "tiny-llama",
    ),
    f"{STUDY}/tables/replica/few_shot.csv:model=tiny-opt,shots=1,pronoun_type=neo:sd": (
        {FEW: {"pronoun_type": ["neo"]}}, "tiny-opt",
    ),
    f"{STUDY}/tables/replica/few_shot.csv:model=tiny-opt,shots=0,pronoun_type=neo:value": (
        {ZERO: {"pronoun_type": ["neo"], "declaration": ["explicit_5"]}}, "tiny-opt",
    ),
    # Rows of the other wording and of other labels; heads hold colons, so that rows are named by their numbers.
    f"{STUDY}/tables/replica/choices.csv:2:difference": (
        {ZERO: {"wording": ["faithful"], "pronoun_type": ["neo"]}}, "tiny-opt",
    ),
    f"{STUDY}/tables/replica/choices.csv:14:difference": (
        {ZERO: {"pronoun_type": ["neo"]}}, "tiny-opt",
    ),
    f"{STUDY}/figures/replica/accuracy_by_group.pdf": ({ZERO: {}}, None),
}  # fmt: skip


def behind(folder, path, levels):
    """Return the instances of a file that have the given levels, and the lines of templates and of names."""
    table = files.read_parquet(folder / path)
    for column, values in ({"wording": ["corrected"]} | levels).items():
        table = table[table[column].isin(values)]
    lines = {"templates": set(table.template_row), "names": set(table.name_row)}
    for column, name in (("example_template_rows", "templates"), ("example_name_rows", "names")):
        lines[name] |= {row for rows in table.get(column, ()) for row in rows}
    return len(table), {name: ranges(sorted(rows)) for name, rows in lines.items()}


@pytest.mark.parametrize("what", TRACES)
def test_a_result_leads_to_its_instances_lines_and_weights(finished, asked, what):
    wanted, model = TRACES[what]
    status, printed = asked("-v", what)
    assert status == 0, printed
    told = {path: int(count) for count, path in re.findall(r"^(\d+) rows? of (\S+\.parquet)", printed, flags=re.M)}
    assert told == {path: behind(finished.folder, path, levels)[0] for path, levels in wanted.items()}, printed
    for path, levels in wanted.items():
        for name, lines in behind(finished.folder, path, levels)[1].items():
            label = "line" if lines.isdigit() else "lines"
            assert f"templates/misgendered/{name}.tsv: {label} {lines}\n" in printed, printed
    for name in ("tiny-opt", "tiny-llama"):
        scored = rf"results/misgendered/scores/\w+/{name}\.parquet .*\n(?:.*\n)+?.*model {name}, .*weights \w{{16}}"
        assert bool(re.search(scored, printed)) == (model in (None, name)), name


FROM_FILES = {
    f"{STUDY}/tables/replica/pronouns.csv:Nom.=xe:Ref.": (["pronouns.tsv: line 6\n"], ["names.tsv"]),
    f"{STUDY}/tables/replica/declarations.csv:2:Forms": (["misgendered/declarations.tsv: line 5\n"], ["names.tsv"]),
    f"{STUDY}/tables/replica/templates.csv:12:Form": (["misgendered/templates.tsv: line 14\n"], []),
    # What is set beside a printed number, as a table of the run has it.
    f"{STUDY}/tables/published_vs_ours.csv:5:ours": (["misgendered/declarations.tsv: line 6\n"], ["names.tsv"]),
    f"{STUDY}/corpus_counts.csv:group=she,form=nom:count": (
        ["pronouns.tsv: line 4\n"], ["templates.tsv", "names.tsv"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", FROM_FILES)
def test_what_no_model_made_leads_to_lines_of_files(asked, what):
    found, absent = FROM_FILES[what]
    status, printed = asked(what)
    assert status == 0, printed
    lines = printed[printed.index("read directly:") :]
    assert [text for text in found if text not in lines] == [], printed
    assert [text for text in absent if text in lines] == [], printed
    assert not re.search(r"^\d+ rows? of ", printed, flags=re.M), printed


def test_rows_of_the_summary_lead_to_those_of_the_study_alone(finished, asked):
    table = estimate_rows.read([finished.folder / "results/paper/summary.csv"])
    mine = {"study": "misgendered", "model": "tiny-opt", "metric": "accuracy", "pronoun_type": "neo"}
    for shots, path in ((0, ZERO), (1, FEW)):
        row = estimate_rows.rows_at(table, **mine, shots=shots).index.item() + 1
        status, printed = asked(f"results/paper/summary.csv:{row}:value")
        assert status == 0, printed
        count = behind(finished.folder, path, {"pronoun_type": ["neo"]})[0]
        assert re.findall(r"^(\d+) rows? of (\S+)", printed, flags=re.M) == [(str(count), f"{path},")], printed


def test_the_impact_of_a_name_is_what_was_made_from_it(finished, asked):
    table = files.read_parquet(finished.folder / ZERO)
    row = table.name_row.iloc[0]
    status, printed = asked("--impact", f"templates/misgendered/names.tsv:{row}")
    assert status == 0, printed
    assert f"{(table.name_row == row).sum()} " in printed and ZERO in printed
