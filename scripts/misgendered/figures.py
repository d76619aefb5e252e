"""The figures of MISGENDERED, each by the function of its rule."""

import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from scripts.core import files
from scripts.core.data import losses, model_outputs
from scripts.core.data.options import fill
from scripts.core.paper import plotting
from scripts.core.workflow.job import run_named
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.analyses.predictions import instance_parts
from scripts.misgendered.lib.labels import TYPES, present

CHARACTERS = 56
"""Of a line at the width of a column."""
LINE, SIZE = 0.128, 7
"""Height of a line in inches, size of its type in points."""


def figure_accuracy_by_group(
    *, accuracy: str, pdf: str, png: str, csv: str, templates: str, models: dict, pronoun_sets: list, chance: float
) -> None:
    """Draw the accuracy on each pronoun group (the numbers behind Table 7).

    ``chance`` is the accuracy of a random pick among the forms of ``pronoun_sets``.
    """
    frame = figures.pooled_rows(figures.read(accuracy, ["group"]), templates, {"pronoun_type", "group"})
    frame = plotting.drop_small_cells(frame[frame.model.isin(figures.panels(models))])
    types = dict(zip(frame.group, frame.pronoun_type, strict=True))
    order = [g for kind in present(TYPES, types.values()) for g in pronoun_sets if types.get(g) == kind]
    with plotting.style():
        drawn = figures.accuracy_rows(frame, {group: group for group in order}, models, chance, "group")
    plotting.save(drawn, frame, pdf, png, csv)


def _grid_of_models(names: Sequence[str], models: dict[str, dict], most: int, room: float = 0.0):
    """Return a figure and its panels, one for each model, at most ``most`` beside each other.

    ``room`` (inches) is added to its height.
    """
    columns = min(most, len(names))
    rows = -(-len(names) // columns)
    drawn = plotting.figure(plotting.COLUMN if columns < 3 else plotting.PAGE, 1.7 * rows + room)
    grid = drawn.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    for ax, name in zip(grid.flat, names, strict=False):
        ax.set_title(plotting.model_title(name, models))
        plotting.fraction_axis(ax.yaxis)
    for ax in grid.flat[len(names) :]:
        ax.set_axis_off()
    for ax in grid[:, 0]:
        ax.set_ylabel(figures.ACCURACY)
    return drawn, grid


def figure_few_shot(
    *, accuracy_over_draws: str, accuracy_by_draw: str, accuracy: str, pdf: str, png: str, csv: str, templates: str,
    models: dict, chance: float,
) -> None:  # fmt: skip
    """Draw accuracy against the number of examples in the prompt (Table 13 as curves).

    Without examples it shows the declaration that examples use, from ``accuracy``. Accuracies on few instances
    (:data:`scripts.core.paper.formats.FEWEST`) are left out.
    """
    summary = figures.read(accuracy_over_draws, ["sd"])
    by_draw = plotting.drop_small_cells(figures.read(accuracy_by_draw, ["draw"]))
    frame = figures.by_examples(figures.read(accuracy, ["shots"]), summary, templates)
    frame = frame[frame.n * frame.draws >= plotting.FEWEST]
    plotting.save(draw_few_shot(frame, by_draw, models, chance), frame, pdf, png, csv)


@plotting.style()
def draw_few_shot(summary: pd.DataFrame, by_draw: pd.DataFrame, models: dict[str, dict], chance: float) -> Figure:
    """Draw a panel for each model: the mean over draws of the examples as a curve, each draw as an open point.

    Args:
        summary: ``model``, ``shots``, ``pronoun_type``, ``accuracy``, ``sd``, ``draws``.
        by_draw: ``model``, ``shots``, ``draw``, ``pronoun_type``, ``accuracy``.
        models: By name.
        chance: Accuracy of a random pick.
    """
    if summary.empty:
        return plotting.nothing_drawn()
    names = [name for name in models if name in set(summary.model)]
    drawn, grid = _grid_of_models(names, models, 3)
    types = present(TYPES, summary.pronoun_type)
    for ax, name in zip(grid.flat, names, strict=False):
        for kind in types:
            look = figures.TYPE_LOOKS[kind]
            curve = summary[(summary.model == name) & (summary.pronoun_type == kind)].sort_values("shots")
            bars = plotting.error_bars(curve.accuracy, curve.accuracy - curve.sd, curve.accuracy + curve.sd)
            ax.errorbar(curve.shots, curve.accuracy, yerr=bars, elinewidth=0.9, capsize=1.5, **look)
            points = by_draw[(by_draw.model == name) & (by_draw.pronoun_type == kind) & (by_draw.shots > 0)]
            ax.plot(
                points.shots, points.accuracy, linestyle="none", marker=look["marker"], markersize=3,
                markerfacecolor="white", markeredgecolor=look["color"], markeredgewidth=0.6,
            )  # fmt: skip
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6, min_n_ticks=1))
    for ax in grid[-1]:
        ax.set_xlabel("Examples in the prompt")
    handles = figures.curve_handles(types, summary)
    if (by_draw.shots > 0).any():
        handles.append(plotting.point_handle("one draw of the examples"))
    if summary.sd.notna().any():
        handles.append(plotting.interval_handle(f"± SD over {int(summary.draws.max())} draws"))
    handles.append(plotting.chance_line(grid.flat[: len(names)], chance))
    plotting.legend_below(drawn, handles, 3)
    return drawn


def figure_model_size(
    *, accuracy: str, pdf: str, png: str, csv: str, templates: str, models: dict, chance: float
) -> None:
    """Draw accuracy against the number of parameters, by type of pronouns (Figure 3).

    ``chance`` is the accuracy of a random pick. Models whose size is not known are left out.
    """
    known = {name: facts for name, facts in models.items() if facts["parameters"]}
    frame = figures.pooled_rows(figures.read(accuracy, ["pronoun_type"]), templates, {"pronoun_type"})
    frame = plotting.drop_small_cells(frame[frame.model.isin(known)])
    frame = frame.assign(parameters=frame.model.map({name: facts["parameters"] for name, facts in known.items()}))
    plotting.save(draw_model_size(frame, known, chance), frame, pdf, png, csv)


@plotting.style()
def draw_model_size(frame: pd.DataFrame, models: dict[str, dict], chance: float) -> Figure:
    """Draw a panel for each type of pronouns and a line for each family.

    ``frame`` has ``model``, ``pronoun_type``, ``accuracy``, ``ci_low``, ``ci_high``, ``parameters``.
    """
    if frame.empty:
        return plotting.nothing_drawn()
    models = {name: facts for name, facts in models.items() if name in set(frame.model)}
    if alone := plotting.one_size(models):
        return alone
    types = present(TYPES, frame.pronoun_type)
    drawn = plotting.figure(plotting.COLUMN, 1.25 * len(types) + 0.3)
    grid = drawn.subplots(len(types), 1, sharex=True, sharey=True, squeeze=False)[:, 0]
    families = {}
    for name, facts in sorted(models.items(), key=lambda entry: entry[1]["parameters"]):
        families.setdefault(facts["family"], []).append(name)
    handles = []
    for family, names in families.items():
        look = plotting.family_style(models[names[0]])
        for ax, kind in zip(grid, types, strict=True):
            rows = frame[(frame.pronoun_type == kind)].set_index("model").loc[names]
            ax.plot(rows.parameters, rows.accuracy, markeredgecolor="white", markeredgewidth=0.3, **look)
            ax.vlines(rows.parameters, rows.ci_low, rows.ci_high, color=look["color"], linewidth=0.9)
        handles.append(plotting.handle(look, family))
    for ax, label in zip(grid, types.values(), strict=True):
        ax.set_title(label)
        ax.set_xscale("log")
        plotting.fraction_axis(ax.yaxis, 0.5)
        ax.set_ylabel(figures.ACCURACY)
        ax.margins(x=0.12)
    grid[-1].xaxis.set_major_locator(LogLocator(subs=(1, 3)))
    grid[-1].xaxis.set_major_formatter(FuncFormatter(short_number))
    grid[-1].xaxis.set_minor_formatter(NullFormatter())
    grid[-1].set_xlabel("Parameters")
    handles += [plotting.chance_line(grid, chance), plotting.interval_handle(figures.INTERVAL)]
    plotting.legend_below(drawn, handles, 4)
    return drawn


def short_number(value: float, _: int | None) -> str:
    """Return a number of parameters as a tick's label: ``350M``, ``1B``."""
    return f"{value / 1e9:.3g}B" if value >= 1e9 else f"{value / 1e6:.3g}M"


def _wrapped(text: str):
    """Return a text in lines of at most :data:`CHARACTERS`."""
    return "\n".join(textwrap.wrap(text, CHARACTERS, break_long_words=False))


def _canvas(width: float, height: float):
    """Return a figure for drawings and its axes, whose units are inches from the lower left corner."""
    drawn = plotting.figure(width, height)
    drawn.set_layout_engine("none")
    ax = drawn.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, width), ylim=(0, height))
    ax.set_axis_off()
    return drawn, ax


READ = [
    "instance_id", "text", "options", "groups", "gold", "form", "pronoun_type", "declaration_type", "wording",
    "shots",
]  # fmt: skip


def figure_constrained_decoding(
    *, instances: str, scores: str, pdf: str, png: str, csv: str, model: str, models: dict, wording: str, choices: dict
) -> None:
    """Show what models read and are to predict for one instance, and the losses of its candidates (Figure 4).

    The losses are those of one ``model``; ``wording`` and ``choices`` (labels and capitals) are those of the run.
    """
    # The best of the best of each part.
    parts = [rows[rows.wording == wording] for _, rows in instance_parts(instances, READ)]
    shown = decoding_example(pd.DataFrame([decoding_example(rows) for rows in parts if len(rows)]))
    known = model_outputs.ExpectedOptions.read(instances)
    place = known.place(shown.instance_id)
    parts = model_outputs.score_parts(scores, model, known, (*losses.MAIN, *losses.COLUMNS))
    read = pd.concat([rows[owner == place] for owner, rows in parts])
    rows = losses.comparable_scores(read, "mean", **choices, where=scores).sort_values("option_index")
    values = -rows.log_probability.to_numpy()
    candidates = pd.DataFrame({"option": [shown.options[index] for index in rows.option_index], "loss": values})
    candidates["right"] = candidates.option == shown.gold
    candidates["picked"] = candidates.index == int(values.argmin())
    frame = candidates.assign(instance_id=shown.instance_id, model=model)
    plotting.save(draw_constrained_decoding(shown, candidates, models, model), frame, pdf, png, csv)


def decoding_example(instances: pd.DataFrame) -> pd.Series:
    """Return the instance that is shown: the first accusative, explicit one of a neo-pronoun, or the next best."""
    rows = instances[instances.shots == 0]
    keys = pd.DataFrame(
        {
            "form": rows.form != "acc",
            "type": rows.pronoun_type != "neo",
            "declaration": rows.declaration_type != "explicit",
            "id": rows.instance_id,
        }
    )
    return rows.loc[keys.sort_values(["form", "type", "declaration", "id"]).index[0]]


def read_and_predicted(instance: pd.Series, models: dict[str, dict]) -> list[tuple[str, str, str]]:
    """Return kind, input and labels of each kind of model in a run: what it reads and is to predict if it is right."""
    before, _, after = instance.text.partition("___")
    filled = fill(instance.text, instance.gold)
    sentence = before[max(before.rfind(". "), before.rfind("? ")) + 1 :].strip()

    def shortened(middle: str, end: str = after):
        return f"… {sentence} {middle}{end}" if sentence else f"… {middle}{end}"

    form = filled[len(before) : len(filled) - len(after)]
    kinds = [
        ("Decoder", shortened(form), "the text itself, token by token"),
        ("BART", shortened("<mask>"), shortened(form)),
        ("T5", shortened("<extra_id_0>"), f"<extra_id_0> {form} <extra_id_1>"),
    ]
    run = {kind for facts in models.values() for kind in _kinds(facts)}
    return [row for row in kinds if row[0] in run]


def _kinds(facts: dict[str, Any]):
    """Return what a model's input may look like; of an encoder-decoder only its weights tell."""
    if facts["architecture"] == "decoder":
        return ("Decoder",)
    known = [kind for kind in ("BART", "T5") if kind in facts["family"]]
    return known or (["T5"] if "UL2" in facts["family"] else ["BART", "T5"])


@plotting.style()
def draw_constrained_decoding(
    instance: pd.Series, candidates: pd.DataFrame, models: dict[str, dict], model: str
) -> Figure:
    """Draw inputs and labels as text, and under them the loss of each candidate.

    ``candidates`` has ``option``, ``loss`` (nats a token), ``right`` and ``picked``.
    """
    lines = []
    for kind, read, predicted in read_and_predicted(instance, models):
        lines.append((f"{kind} reads", _wrapped(read)))
        lines.append((f"{kind} is to predict", _wrapped(predicted)))
    text_height = sum(LINE * (2 + text.count("\n")) + 0.03 for _, text in lines) + 0.08
    panel_height = 0.14 * len(candidates) + 0.75
    height = text_height + panel_height
    drawn, ax = _canvas(plotting.COLUMN, height)
    top = height - 0.04
    for head, text in lines:
        ax.text(0.06, top, head, fontsize=SIZE, fontweight="bold", va="top")
        ax.text(0.06, top - LINE, text, fontsize=SIZE, va="top", linespacing=1.15)
        top -= LINE * (2 + text.count("\n")) + 0.03
    panel = drawn.add_axes((0.2, 0.36 / height, 0.76, (panel_height - 0.62) / height))
    # Bars would have to start at zero, where all losses look alike.
    for y, row in enumerate(files.rows(candidates)):
        look = figures.TYPE_LOOKS["binary"]["color"] if row.picked else plotting.GREY
        panel.plot([row.loss], [y], marker="o" if row.picked else ".", color=look, linestyle="none", markersize=6)
    names: list[Any] = [f"{row.option} (right)" if row.right else row.option for row in files.rows(candidates)]
    panel.set_yticks(range(len(candidates)), names, fontsize=SIZE)
    panel.set_ylim(len(candidates) - 0.5, -0.5)
    low, high = candidates.loss.min(), candidates.loss.max()
    room = max(high - low, 0.01)
    panel.set_xlim(low - 0.3 * room, high + 0.1 * room)
    panel.tick_params(axis="y", length=0)
    panel.grid(visible=True, axis="both")
    panel.set_xlabel("Mean loss (nats a token)", fontsize=SIZE)
    name = plotting.model_title(model, models)
    panel.set_title(f"{name}: the lowest is predicted" if name else "The lowest is predicted", fontsize=7.5)
    return drawn


if __name__ == "__main__":
    run_named()
