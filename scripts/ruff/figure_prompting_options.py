"""Draw accuracies with open prompts beside those with prompts that list the options (not a figure of the study)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures, prompting_figures
from scripts.ruff.lib.prompts import VANILLA

COLOURS = dict(zip(("open", "options"), plotting.CATEGORIES, strict=False))


@plotting.style()
def draw(frame, models, chance, human):
    """Draw a panel for each model, with a box over prompts for each kind of prompt; return the figure."""
    colours = {kind: colour for kind, colour in COLOURS.items() if kind in set(frame.kind)}
    drawn, axes, columns = prompting_figures.panels(len(models), columns=3)
    for i, (ax, name) in enumerate(zip(axes, figures.ordered(models), strict=True)):
        prompting_figures.boxes(ax, frame[frame.model == name], "kind", colours)
        ax.set_title(models[name]["label"])
        ax.set_xlabel(figures.DISTRACTORS)
        if i % columns == 0:
            ax.set_ylabel("Accuracy")
    handles = [prompting_figures.box_handle(c, prompting_figures.KIND_LABELS[kind]) for kind, c in colours.items()]
    handles += [plotting.chance_line(axes, chance), plotting.human_line(axes, human)]
    plotting.legend_below(drawn, handles, 2 if columns == 1 else 4)
    return drawn


def main(*, prompted_accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict):
    """Draw the figure for vanilla prompting."""
    frame = figures.read(prompted_accuracy, prompting_figures.COLUMNS, model=models)
    frame = frame[frame.method == VANILLA]
    frame = figures.in_order(frame, model=models, kind=COLOURS, n_distractors=None, prompt=None)
    plotting.save(draw(frame, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
