"""Draw what the outputs of prompted models come to: right, wrong, and what is no answer (not a figure of the study)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures, prompting_figures
from scripts.ruff.lib.analyses.answers import OUTCOMES
from scripts.ruff.lib.prompts import VANILLA

COLUMNS = ["model", "method", "answer", "n_distractors", "kind", "n_prompts", "n", "accuracy", *OUTCOMES[1:]]


@plotting.style()
def draw(frame, models):
    """Draw a panel for each model, method and place of the answer, a bar for each number of distractors."""
    keys = list(dict.fromkeys(zip(frame.model, frame.method, frame.answer, strict=True)))
    drawn, axes, columns = prompting_figures.panels(len(keys), columns=min(len(keys), 3), height=1.6)
    for i, (ax, (model, method, answer)) in enumerate(zip(axes, keys, strict=True)):
        rows = frame[(frame.model == model) & (frame.method == method) & (frame.answer == answer)]
        places, below = range(len(rows)), 0
        for outcome in OUTCOMES:
            values = rows["accuracy" if outcome == "right" else outcome].to_numpy()
            ax.bar(places, values, 0.75, below, color=prompting_figures.OUTCOME_COLOURS[outcome], linewidth=0)
            below = below + values
        ax.set_xticks(places, [str(n) for n in rows.n_distractors])
        name = prompting_figures.method_label(method)
        where = f"\n{name}" + ("" if method == VANILLA else f": {answer}")
        ax.set_title(models[model]["label"] + where)
        ax.set_xlabel(figures.DISTRACTORS)
        plotting.fraction_axis(ax.yaxis)
        if i % columns == 0:
            ax.set_ylabel("Share of outputs")
    handles = [
        plotting.patch_handle(colour, prompting_figures.OUTCOME_LABELS[outcome])
        for outcome, colour in prompting_figures.OUTCOME_COLOURS.items()
    ]
    plotting.legend_below(drawn, handles, 5)
    return drawn


def main(*, prompted_summary: str, pdf: str, png: str, csv: str, models: dict, methods: list):
    """Draw the figure over all prompts."""
    frame = figures.read(prompted_summary, COLUMNS, model=models, method=methods)
    frame = frame[frame.kind == "all"].drop(columns="kind")
    frame = figures.in_order(frame, model=models, method=methods, answer=("final", "chain"), n_distractors=None)
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
