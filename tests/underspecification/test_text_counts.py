"""How many texts a set has is known before it is made: as many as are made of this project's own templates."""

import pytest

from scripts.underspecification import instances, texts
from scripts.underspecification.lib import data, sets
from scripts.underspecification.lib.text_counts import text_counts

FOLDER = "templates/underspecification"


@pytest.mark.parametrize(
    "sample", [{"dates": 4, "places": 3, "occupations": 4}, {"dates": 30, "places": 20, "occupations": 60}]
)
@pytest.mark.parametrize("outer_dates", [1, 3, 40])
def test_counts_are_those_of_the_texts(root, sample, outer_dates):
    folder = root / FOLDER
    others = {
        row["occupation"]: row["participant"] for row in instances.read_occupations(root / "templates/occupations.tsv")
    }
    dates = data.read_dates(folder / "dates.tsv")
    made = sets.replica(
        data.read_schemas(folder / "winogender.tsv", others), sets.outer(dates["winogender"], outer_dates)
    )
    made["mgc"] = sets.mgc(
        data.read_verbs(folder / "verbs.tsv"), data.read_life_stages(folder / "life_stages.tsv"), dates["code"],
        data.read_places(folder / "places.tsv"),
    )  # fmt: skip
    prompts = data.read_prompts(folder / "prompts.tsv")
    for name, frame in made.items():
        kept = sets.sample(frame, sample["dates"], sample["places"], sample["occupations"]).drop_duplicates(
            "instance_id"
        )
        methods = texts.make(kept, {prompt: prompts[prompt] for prompt in ("A", "B")}).method.value_counts()
        assert methods.to_dict() == text_counts(name, sample, outer_dates, ["A", "B"]), name
