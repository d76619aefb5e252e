"""The texts that models read, and how many there will be."""

import pytest

from scripts.underspecification import instances, templates, texts
from tests.underspecification.synthetic import FOLDER, own_mgc, own_pairs

PROMPTS = templates.read_prompts(FOLDER / "prompts.tsv")
DATES = templates.read_dates(FOLDER / "dates.tsv")["winogender"]


def test_texts_have_masks_and_prompts():
    frame = texts.make_texts(own_mgc().head(2), PROMPTS)
    assert list(frame.prompt) == ["mask", "A", "B", "C"] * 2 and frame.text_id.is_unique
    assert list(frame.columns) == ["text_id", "instance_id", "prompt", "text", "method", *instances.ROWS]
    assert list(frame.method) == ["mask", "generate", "generate", "generate"] * 2
    by = frame.head(4).set_index("prompt").text
    assert by["mask"] == "In 1801, [MASK] was a kid."
    assert by["A"].endswith("Passage: In 1801, <mask> was a kid.\nAnswer:") and by["A"].count("<mask>") == 2
    assert by["B"] == "The gendered pronoun missing in this sentence: 'In 1801, _ was a kid.', is"


@pytest.mark.parametrize(("dates", "places", "occupations"), [(4, 3, 4), (30, 20, 60)])
@pytest.mark.parametrize("outer_dates", [1, 3, 40])
def test_as_many_texts_are_made_as_were_counted(dates, places, occupations, outer_dates):
    made = {"mgc": own_mgc()} | own_pairs(instances.outermost_dates(DATES, outer_dates))
    sample = {"dates": dates, "places": places, "occupations": occupations}
    for name, frame in made.items():
        kept = instances.sample_instances(frame, **sample).drop_duplicates("instance_id")
        methods = texts.make_texts(kept, {prompt: PROMPTS[prompt] for prompt in ("A", "B")}).method.value_counts()
        assert methods.to_dict() == texts.count_texts(name, sample, outer_dates, ["A", "B"]), name
