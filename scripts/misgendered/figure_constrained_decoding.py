"""Show what models read and are to predict for one instance, and the losses of its candidates (Figure 4)."""

import pandas as pd

from scripts.core import losses, model_outputs, plotting
from scripts.core.job import run
from scripts.core.options import fill
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.predictions import instance_parts

CHARACTERS = 56
LINE, SIZE = 0.128, 7
READ = [
    "instance_id", "text", "options", "groups", "gold", "form", "pronoun_type", "declaration_type", "wording",
    "shots",
]  # fmt: skip


def example(instances):
    """Return the instance that is shown: the first accusative, explicit one of a neo-pronoun, or the next best.

    Parameters
    ----------
    instances : DataFrame
    """
    rows = instances[instances.shots == 0]
    keys = pd.DataFrame(
        {
            "form": rows.form != "acc",
            "type": rows.pronoun_type != "neo",
            "declaration": rows.declaration_type != "explicit",
            "id": rows.instance_id,
        }
    )
    return rows.loc[keys.sort_values(list(keys)).index[0]]


def labels(instance):
    """Return what each kind of model reads and is to predict, where the candidate is the right form.

    Returns
    -------
    list of (str, str, str)
        Kind of model, input, labels.
    """
    before, _, after = instance.text.partition("___")
    filled = fill(instance.text, instance.gold)
    sentence = before[max(before.rfind(". "), before.rfind("? ")) + 1 :].strip()

    def shortened(middle, end=after):
        return f"… {sentence} {middle}{end}" if sentence else f"… {middle}{end}"

    form = filled[len(before) : len(filled) - len(after)]
    return [
        ("Decoder", shortened(form), "the text itself, token by token"),
        ("BART", shortened("<mask>"), shortened(form)),
        ("T5", shortened("<extra_id_0>"), f"<extra_id_0> {form} <extra_id_1>"),
    ]


@plotting.style()
def draw(instance, candidates, models, model):
    """Draw inputs and labels as text, and under them the loss of each candidate.

    Parameters
    ----------
    instance : Series
    candidates : DataFrame
        ``option``, ``loss`` (nats a token), ``right``, ``picked``.
    models : dict
    model : str
    """
    lines = []
    for kind, read, predicted in labels(instance):
        lines.append((f"{kind} reads", figures.wrapped(read, CHARACTERS)))
        lines.append((f"{kind} is to predict", figures.wrapped(predicted, CHARACTERS)))
    text_height = sum(LINE * (2 + text.count("\n")) + 0.03 for _, text in lines) + 0.08
    panel_height = 0.14 * len(candidates) + 0.75
    drawn, ax = figures.canvas(plotting.COLUMN, text_height + panel_height)
    top = text_height + panel_height - 0.04
    for head, text in lines:
        ax.text(0.06, top, head, fontsize=SIZE, fontweight="bold", va="top")
        ax.text(0.06, top - LINE, text, fontsize=SIZE, va="top", linespacing=1.15)
        top -= LINE * (2 + text.count("\n")) + 0.03
    height = text_height + panel_height
    panel = drawn.add_axes((0.2, 0.36 / height, 0.76, (panel_height - 0.62) / height))
    # Bars would have to start at zero, where all losses look alike.
    for y, row in enumerate(candidates.itertuples()):
        look = figures.TYPE_LOOKS["binary"]["color"] if row.picked else plotting.GREY
        panel.plot([row.loss], [y], marker="o" if row.picked else ".", color=look, linestyle="none", markersize=6)
    names = [f"{row.option} (right)" if row.right else row.option for row in candidates.itertuples()]
    panel.set_yticks(range(len(candidates)), names, fontsize=SIZE)
    panel.set_ylim(len(candidates) - 0.5, -0.5)
    low, high = candidates.loss.min(), candidates.loss.max()
    room = max(high - low, 0.01)
    panel.set_xlim(low - 0.3 * room, high + 0.1 * room)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=True, axis="both")
    panel.set_xlabel("Mean loss (nats a token)", fontsize=SIZE)
    panel.set_title(f"{models[model]['label']}: the lowest is picked", fontsize=7.5)
    return drawn


def main(
    *, instances: str, scores: str, pdf: str, png: str, csv: str, model: str, models: dict, wording: str, choices: dict
):
    """Draw the figure with the losses of one ``model``.

    ``wording`` and ``choices`` (labels and capitals) are those of the run.
    """
    # The best of the best of each part.
    parts = [rows[rows.wording == wording] for _, rows in instance_parts(instances, READ)]
    shown = example(pd.DataFrame([example(rows) for rows in parts if len(rows)]))
    known = model_outputs.Asked.read(instances)
    place = known.place(shown.instance_id)
    parts = model_outputs.score_parts(scores, model, known, (*losses.MAIN, *losses.COLUMNS))
    read = pd.concat([rows[owner == place] for owner, rows in parts])
    rows = losses.compared(read, "mean", **choices, where=scores).sort_values("option_index")
    values = -rows.log_probability.to_numpy()
    candidates = pd.DataFrame({"option": [shown.options[index] for index in rows.option_index], "loss": values})
    candidates["right"] = candidates.option == shown.gold
    candidates["picked"] = candidates.index == int(values.argmin())
    frame = candidates.assign(instance_id=shown.instance_id, model=model)
    plotting.save(draw(shown, candidates, models, model), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
