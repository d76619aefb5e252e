"""Draw accuracies of prompted models by number of distractors, boxes over prompts (paper Figures 11a and 11b)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures, prompting_figures
from scripts.ruff.lib.prompts import VANILLA


@plotting.style()
def draw(frame, models, chance, human):
    """Draw a panel for each architecture, with a box for each of its models; return the figure."""
    groups = figures.by_architecture(models)
    few = len(models) <= 2
    drawn = plotting.figure(plotting.COLUMN if few else plotting.PAGE, 1.9 * len(groups) + 0.2)
    axes = drawn.subplots(len(groups), 1, squeeze=False)[:, 0]
    handles = []
    for ax, (architecture, names) in zip(axes, groups.items(), strict=True):
        colours = {name: plotting.model_style(models[name])["color"] for name in names}
        prompting_figures.boxes(ax, frame[frame.model.isin(names)], "model", colours)
        ax.set_title(plotting.ARCHITECTURES[architecture])
        ax.set_ylabel("Accuracy")
        handles += [prompting_figures.box_handle(colours[name], models[name]["label"]) for name in names]
    axes[-1].set_xlabel(figures.DISTRACTORS)
    handles += [plotting.chance_line(axes, chance), plotting.human_line(axes, human)]
    plotting.legend_below(drawn, handles, 2 if few else 5)
    return drawn


def main(*, prompted_accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict):
    """Draw the figure; ``chance`` is the accuracy of a random pick."""
    frame = figures.read(prompted_accuracy, prompting_figures.COLUMNS, model=models)
    frame = frame[frame.method == VANILLA]
    frame = figures.in_order(frame, model=models, n_distractors=None, prompt=None)
    plotting.save(draw(frame, models, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
