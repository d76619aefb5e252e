"""Draw accuracy over distractors for the largest decoder and the largest encoder (paper Figure 1)."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.ruff.lib import figures

COLUMNS = ["model", "n_distractors", "factor", "n", "accuracy", "ci_low", "ci_high"]


def largest(models):
    """Return the decoder and the encoder with the most parameters, the first listed where two are equal."""
    groups = figures.by_architecture(models)
    names = [max(groups[a], key=lambda m: models[m]["parameters"] or 0) for a in ("decoder", "encoder") if a in groups]
    return {m: models[m] for m in names}


@plotting.style()
def draw(frame, models, chance, human):
    """Draw one curve for each model, with its interval as shading; return the figure."""
    drawn = plotting.figure(plotting.COLUMN, 2.0)
    ax = drawn.subplots()
    for name, facts in models.items():
        rows = plotting.enough(frame[frame.model == name])
        plotting.curve(ax, rows.n_distractors, rows.accuracy, rows.low, rows.high, plotting.model_style(facts))
    ax.set(xlabel=figures.DISTRACTORS, ylabel="Accuracy")
    plotting.fraction_axis(ax.yaxis)
    figures.distractor_axis(ax)
    handles = figures.model_handles(models, [name for name in models if name in set(plotting.enough(frame).model)])
    handles += [plotting.chance_line([ax], chance), plotting.human_line([ax], human)]
    handles += plotting.shading(figures.BOOTSTRAP) + plotting.left_out(frame, models)
    plotting.legend_below(drawn, handles, 2)
    return drawn


def main(*, accuracy: str, pdf: str, png: str, csv: str, models: dict, chance: float, human: float | dict):
    """Draw the figure; ``chance`` is the accuracy of a random pick, ``human`` people's accuracy (section 3.3)."""
    frame = figures.read(accuracy, COLUMNS, model=models)
    shown = largest(models)
    frame = frame[(frame.factor == "all") & frame.model.isin(list(shown))].drop(columns="factor")
    frame = frame.rename(columns={"ci_low": "low", "ci_high": "high"})
    frame = figures.in_order(frame, model=shown, n_distractors=None)
    plotting.save(draw(frame, shown, chance, human), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
