"""The job that writes instances, on the quadruples that the project ships."""

from scripts.core import files
from scripts.counter_gap import instances as script


def test_the_shipped_quadruples_are_balanced_and_name_their_lines(root, tmp_path):
    made = tmp_path / "instances.parquet"
    paths = {
        "quadruples": root / "templates/counter_gap/quadruples.tsv", "pronouns": root / "templates/pronouns.tsv"
    }  # fmt: skip
    script.instances(instances=str(made), **{name: str(path) for name, path in paths.items()})
    origins = files.parquet_metadata(made)["origins"]
    assert origins == {"row": "quadruples.tsv", "pronoun_rows": "pronouns.tsv"}
    lines = {name: path.read_text(encoding="utf-8").split("\n") for name, path in paths.items()}
    # The canary.
    assert lines["quadruples"][0] == lines["pronouns"][0]
    frame = files.read_parquet(made)
    assert frame.original_gender.tolist() == [gender for gender in frame.gender[::4] for _ in range(4)]
    for row in frame.itertuples():
        assert lines["quadruples"][row.row - 1].startswith(f"{row.quadruple}\t")
        assert [lines["pronouns"][n - 1].partition("\t")[0] for n in row.pronoun_rows] == ["he", "she"]
    originals = frame[frame.role == "original"]
    assert originals.gender.value_counts().to_dict() == {"M": 12, "F": 12}
    assert originals.groupby("case").size().min() >= 7
    assert originals.a_coref.sum() == originals.b_coref.sum() == 11
