"""How many texts a set has is known before it is made: as many as are made of this project's own templates."""

import pytest

from scripts.core.data.templates import read_occupations
from scripts.underspecification import instances, templates, texts
from scripts.underspecification.texts import text_counts

FOLDER = "templates/underspecification"


@pytest.mark.parametrize(
    "sample", [{"dates": 4, "places": 3, "occupations": 4}, {"dates": 30, "places": 20, "occupations": 60}]
)
@pytest.mark.parametrize("outer_dates", [1, 3, 40])
def test_counts_are_those_of_the_texts(root, sample, outer_dates):
    folder = root / FOLDER
    occupations = read_occupations(root / "templates/occupations.tsv")
    dates = templates.read_dates(folder / "dates.tsv")
    made = instances.replica(
        templates.read_schemas(folder / "winogender.tsv", occupations),
        instances.outermost_dates(dates["winogender"], outer_dates),
    )
    made["mgc"] = instances.mgc(
        templates.read_verbs(folder / "verbs.tsv"),
        templates.read_life_stages(folder / "life_stages.tsv"),
        dates["code"],
        templates.read_places(folder / "places.tsv"),
    )
    prompts = templates.read_prompts(folder / "prompts.tsv")
    for name, frame in made.items():
        kept = instances.sample(frame, sample["dates"], sample["places"], sample["occupations"]).drop_duplicates(
            "instance_id"
        )
        methods = texts.make_texts(kept, {prompt: prompts[prompt] for prompt in ("A", "B")}).method.value_counts()
        assert methods.to_dict() == text_counts(name, sample, outer_dates, ["A", "B"]), name
