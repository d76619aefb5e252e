"""The figures of RUFF, each by the functions that its file names; those by pronoun set and of prompted models are in
``pronoun_figures.py`` and ``prompting_figures.py``.

One function selects the rows that are drawn, which are the figure's CSV file, and the other draws them.
"""

import math
from pathlib import Path

import pandas as pd
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from scripts.core.errors import UserError
from scripts.core.paper import palette, plotting
from scripts.core.paper.formats import count_parameters
from scripts.core.workflow.job import run_named
from scripts.ruff import drawing, prompting_figures, pronoun_figures, study
from scripts.ruff.drawing import Drawn, Run, draw_curves, prepare_rows, select_accuracies


def figures(
    *, estimates: str, pronoun_tests: str, pdf: list, png: list, csv: list, templates: str, models: dict, asked: dict,
    pronoun_sets: list, chance: float, human: float | dict, methods: list,
) -> None:  # fmt: skip
    """Draw the figures of a template set, each of which its file names.

    ``models`` are those that are scored and ``asked`` those that are prompted, by ``methods``; ``chance`` is the
    accuracy of a random pick, ``human`` that of people (section 3.3).
    """
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    paths = {"estimates": estimates, "pronoun_tests": pronoun_tests}
    tables = {name: study.read_table(path, templates) for name, path in paths.items()}
    for made in zip(pdf, png, csv, strict=True):
        name = Path(made[0]).stem
        select, draw = FIGURES[name]
        run = Run(asked if name.startswith("prompting") else models, labels, chance, human, methods)
        rows = select(tables, run)
        if rows.empty:
            remedy = "add 0 to ruff.distractors in the configuration, if it is missing, or run the workflow again"
            raise UserError(f"{estimates}: has no rows for {name}; {remedy}")
        plotting.save_figure(drawing.draw_enough(draw, rows, run), rows, *made)


def introduction_accuracy(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Each model's accuracy with an introduction and no distractor (paper Figure 5)."""
    return select_accuracies(tables, run, n_distractors="0")


def draw_introduction_accuracy(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw one bar for each model with its interval."""
    drawn, panels = drawing.draw_rows(rows, run, plotting.COLUMN, 0.17, 0.35)
    for ax, names in panels.items():
        part, places = rows.set_index("model").loc[names], range(len(names))
        colours = [palette.model_style(run.models[name])["color"] for name in names]
        ax.barh(places, part.value, height=0.75, color=colours, zorder=1)
        bars = plotting.error_bars(part.value, part.low, part.high)
        ax.errorbar(part.value, places, xerr=bars, fmt="none", color="black", linewidth=0.8, capsize=1.5)
        for y, value in zip(places, part.value, strict=True):
            drawing.write_right(ax, 2 / 72, y, f"{value:.2f}", ha="left", va="center_baseline")
        plotting.fraction_axis(ax.xaxis)
        ax.set_xlim(left=0)
        ax.set_xlabel("Accuracy without distractors" if ax is drawn.axes[-1] else "")
    return drawn, [*run.references(panels, "x"), plotting.interval_handle(drawing.BOOTSTRAP, "_")]


def draw_accuracy_by_distractors(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw decoders above encoders, with their intervals as shading (paper Figure 7)."""
    drawn, handles = draw_curves(rows, run, "Accuracy", {"accuracy": ""})
    return drawn, [*handles, *run.references(drawn.axes), drawing.shading_handle(drawing.BOOTSTRAP)]


SHOWN = {"distraction": "Distraction", "bias": "Bias"}


def error_types(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """The shares of distraction and of bias among unambiguous errors (paper Figure 9), with the SD over samples."""
    rows = prepare_rows(study.select_rows(tables["estimates"], list(SHOWN), n_distractors=...))
    ends = {end: plotting.clip_bounds(rows.value + sign * rows.sd) for end, sign in (("low", -1), ("high", 1))}
    return study.sort_rows(rows.assign(**ends), model=run.models, metric=SHOWN, n_distractors=None)


def draw_error_types(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw decoders above encoders, distraction left of bias; with few unambiguous errors a curve has a gap."""
    drawn, handles = draw_curves(rows, run, "Share of errors", SHOWN)
    if rows.sd.notna().any():
        handles = [*handles, drawing.shading_handle(f"± SD over {int(rows.samples.max())} samples")]
    return drawn, handles


def scaling(tables: dict[str, pd.DataFrame], run: Run) -> pd.DataFrame:
    """Accuracies with the fewest and the most distractors, with each model's size and family (paper Figure 8)."""
    rows = select_accuracies(tables, run)
    rows = rows[rows.n_distractors.isin([rows.n_distractors.min(), rows.n_distractors.max()])]
    facts = pd.DataFrame.from_dict(run.models, orient="index")[["family", "architecture", "parameters"]]
    return rows.join(facts, on="model").sort_values(["n_distractors", "parameters"], kind="stable", ignore_index=True)


def draw_scaling(rows: pd.DataFrame, run: Run) -> Drawn:
    """Draw one point for each model with its interval, joined within its family; few distractors above many."""
    models = {name: run.models[name] for names in run.by_architecture(rows).values() for name in names}
    if alone := plotting.one_size(models):
        return alone, []
    looks = {(facts["family"], facts["architecture"]): palette.family_style(facts) for facts in models.values()}
    ends = sorted(rows.n_distractors.unique())
    drawn = plotting.new_figure(plotting.COLUMN, 1.65 * len(ends) + 0.25)
    grid = drawn.subplots(len(ends), 1, sharex=True, squeeze=False)[:, 0]
    for ax, n in zip(grid, ends, strict=True):
        for family, part in rows[rows.n_distractors == n].groupby(["family", "architecture"], sort=False):
            colours = [palette.model_style(run.models[m])["color"] for m in part.model]
            ax.plot(part.parameters, part.value, **looks[family] | {"marker": "none"})
            bars = plotting.error_bars(part.value, part.low, part.high)
            ax.errorbar(part.parameters, part.value, bars, fmt="none", ecolor=colours, elinewidth=0.8)
            points = {"s": 18, "c": colours, "marker": looks[family]["marker"], "edgecolor": "white", "linewidth": 0.3}
            ax.scatter(part.parameters, part.value, zorder=3, **points)
        ax.set_title(f"{n} distractor{'' if n == 1 else 's'}")
        ax.set_ylabel("Accuracy")
        plotting.fraction_axis(ax.yaxis)
    smallest, most = math.log10(rows.parameters.min()), math.log10(rows.parameters.max())
    ax.set(xscale="log", xlabel="Size (parameters)", xlim=(10 ** math.floor(smallest), 10 ** math.ceil(most)))
    ax.xaxis.set_major_locator(LogLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda count, _: count_parameters(count)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    handles = [plotting.line_handle(look, f"{family} ({kind})") for (family, kind), look in looks.items()]
    return drawn, [*handles, *run.references(grid), plotting.interval_handle(drawing.BOOTSTRAP)]


FIGURES = {
    "context_free": (pronoun_figures.context_free, pronoun_figures.draw_context_free),
    "introduction_accuracy": (introduction_accuracy, draw_introduction_accuracy),
    "accuracy_by_pronoun": (pronoun_figures.accuracy_by_pronoun, pronoun_figures.draw_accuracy_by_pronoun),
    "accuracy_by_distractors": (select_accuracies, draw_accuracy_by_distractors),
    "who_becomes_whom": (pronoun_figures.who_becomes_whom, pronoun_figures.draw_who_becomes_whom),
    "scaling": (scaling, draw_scaling),
    "error_types": (error_types, draw_error_types),
    "prompting_vanilla": (prompting_figures.vanilla, prompting_figures.draw_vanilla),
    "prompting_final": (prompting_figures.final_answers, prompting_figures.draw_methods),
    "prompting_chain": (prompting_figures.chain_answers, prompting_figures.draw_methods),
}
"""Which rows are drawn, and the function that draws them."""


if __name__ == "__main__":
    run_named()
