"""The figure of checkpoints in series."""

import pytest

from scripts.core import files
from scripts.core.data.estimate_rows import write
from scripts.core.errors import UserError
from scripts.core.paper import trajectory
from scripts.ruff.figures import figure_trajectory

POINTS = [[number, "accuracy", {"scoring": "probability", "n_distractors": int(number)}] for number in ("0", "5")]


def checkpoint(name, position, label):
    return {"label": label, "series": {"name": name, "label": name, "position": position, "unit": "steps"}}


MODELS = {
    # Out of order, and beside a model that is none of a series.
    "a-step5000": checkpoint("A", 5000, "A step5000"), "a-step0": checkpoint("A", 0, "A step0"),
    "a-step90": checkpoint("A", 90, "A step90"), "b-step1": checkpoint("B", 1, "B step1"),
    "b-step2": checkpoint("B", 2, "B step2"), "alone": {"label": "Alone"},
}  # fmt: skip


def summary(tmp_path, models):
    rows = [
        {"part": part, "model": name, "kind": "model", "metric": metric, "value": 0.1 * place,
         "low": 0.1 * place - 0.05, "high": 0.1 * place + 0.05, "n": 60, "n_unit": "instances",
         "label": facts["label"], **factors}
        for part in ("replica", "official")
        for place, (name, facts) in enumerate(models.items(), 1)
        for _, metric, factors in POINTS
    ]  # fmt: skip
    path = tmp_path / "summary.csv"
    write(path, "ruff", rows)
    return path


def draw(tmp_path, path):
    given = {suffix: str(tmp_path / f"trajectory.{suffix}") for suffix in ("pdf", "png", "csv")}
    figure_trajectory(summary=str(path), models=MODELS, points=POINTS, templates="replica", chance=0.25, **given)
    return files.read_csv(given["csv"])


def test_every_checkpoint_has_a_point_on_every_curve_in_the_order_of_training(tmp_path):
    frame = draw(tmp_path, summary(tmp_path, MODELS))
    curve = frame[(frame.series == "A") & (frame.group == 5)]
    assert list(curve.position) == [0, 90, 5000] and list(curve.value) == pytest.approx([0.2, 0.3, 0.1])
    assert len(frame) == 10 and "Alone" not in set(frame.model)


def test_panels_axes_and_legend(tmp_path):
    frame = trajectory.rows(summary(tmp_path, MODELS), MODELS, POINTS, "official")
    drawn = trajectory.draw(frame, ["0", "5"], 0.25, "Distractors")
    first, second = drawn.axes
    assert {first.get_title("left"), second.get_title("left")} == {"A", "B"}
    # From step 0, and over a wide range: linear up to the first step, logarithmic beyond.
    scales = {ax.get_title("left"): ax.get_xscale() for ax in drawn.axes}
    assert scales == {"A": "symlog", "B": "linear"}
    texts = [text.get_text() for text in drawn.legends[0].get_texts()]
    assert texts == ["Distractors: 0", "Distractors: 5", "chance (0.25)", "95% interval"]


def test_a_checkpoint_without_a_value_is_named(tmp_path):
    path = summary(tmp_path, {name: facts for name, facts in MODELS.items() if name != "a-step90"})
    with pytest.raises(UserError, match=r"nothing on accuracy \(0\) of A step90"):
        draw(tmp_path, path)
