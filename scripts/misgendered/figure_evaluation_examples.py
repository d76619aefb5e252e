"""Show one instance of each form with its right form and what a model picks (Figure 1)."""

import pandas as pd

from scripts.core import plotting
from scripts.core.job import run
from scripts.core.options import fill
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.by_model import ByModel
from scripts.misgendered.lib.analyses.predictions import instance_parts
from scripts.misgendered.lib.labels import SHORT, present

COLUMNS = [
    "instance_id", "pronoun_type", "declaration_type", "declaration_number", "form", "gold", "picked", "correct",
]  # fmt: skip
CHARACTERS = 56
"""Of a line at the width of a column."""
LINE, SIZE = 0.128, 7
"""Height of a line in inches, size of its type in points."""
RIGHT, WRONG = "#117733", "#882255"


def examples(predictions, instances, model):
    """Return one row for each form: a model's pick on the first instance by a stated rule.

    Neo-pronouns come first, then explicit declarations, then those of most forms, then the lowest instance id.

    Parameters
    ----------
    predictions, instances : DataFrame
    model : str

    Returns
    -------
    DataFrame
        ``form``, ``instance_id``, ``text``, ``gold``, ``picked``, ``correct``.
    """
    rows = predictions[(predictions.model == model) & (predictions.shots == 0)]
    rows = rows.merge(instances[["instance_id", "text"]].drop_duplicates("instance_id"), on="instance_id")
    first = _first(rows).set_index("form").loc[list(present(SHORT, rows.form))].reset_index()
    return first[["form", "instance_id", "text", "gold", "picked", "correct"]]


def _first(rows):
    """Return the first instance of each form."""
    rows = rows.assign(other=rows.pronoun_type != "neo", behind=rows.declaration_type != "explicit")
    rows = rows.sort_values(
        ["other", "behind", "declaration_number", "instance_id"], ascending=[True, True, False, True]
    )
    return rows.drop_duplicates("form")


def as_written(text, form):
    """Return a form as it stands in the slot of a text."""
    before = text.partition("___")[0]
    return fill(text, form)[len(before) : len(before) + len(form)]


@plotting.style()
def draw(shown, models, model):
    """Draw a box for each row of :func:`examples`."""
    texts = [figures.wrapped(text, CHARACTERS) for text in shown.text]
    heights = [LINE * (2 + text.count("\n") + 1) + 0.12 for text in texts]
    width = plotting.COLUMN
    total = sum(heights) + 0.07 * (len(heights) - 1) + 0.04
    drawn, ax = figures.canvas(width, total)
    top = total - 0.02
    for row, text, height in zip(shown.itertuples(), texts, heights, strict=True):
        figures.box(ax, 0.03, top - height, width - 0.06, height)
        ax.text(0.1, top - 0.06, SHORT[row.form], fontsize=SIZE, fontweight="bold", va="top")
        ax.text(0.1, top - 0.06 - LINE, text, fontsize=SIZE, va="top", linespacing=1.15)
        below = top - height + 0.05
        ax.text(0.1, below, f"right: {as_written(row.text, row.gold)}", fontsize=SIZE, color=RIGHT)
        said = f"{models[model]['label']}: {as_written(row.text, row.picked)}"
        ax.text(width / 2, below, said, fontsize=SIZE, color=RIGHT if row.correct else WRONG)
        top -= height + 0.07
    return drawn


def main(*, predictions: str, instances: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure for the model with the most parameters."""
    model = max(models, key=lambda name: models[name]["parameters"] or 0)
    first = _first(ByModel(predictions, COLUMNS).read(0, model))
    texts = [rows.loc[rows.instance_id.isin(first.instance_id)] for _, rows in instance_parts(instances, ["text"])]
    shown = examples(first, pd.concat(texts), model)
    frame = pd.DataFrame(shown).assign(model=model)
    plotting.save(draw(shown, models, model), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
