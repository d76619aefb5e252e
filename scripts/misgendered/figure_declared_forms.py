"""Draw how accuracy changes when the form that is asked for is declared."""

from scripts.core import plotting
from scripts.core.job import run
from scripts.misgendered.lib import figures
from scripts.misgendered.lib.labels import ALL, FORMS, TYPES, present

POOLED = "All three"


@plotting.style()
def draw(frame, models):
    """Draw a panel for each model, a row for each form and the difference of accuracies with its interval.

    Parameters
    ----------
    frame : DataFrame
        From :func:`scripts.misgendered.lib.analyses.declared_forms.declared_forms`.
    models : dict
    """
    shown, types = figures.panels(models), present(TYPES, frame.pronoun_type)
    rows = present(FORMS, frame.form) | {ALL: POOLED}
    drawn = plotting.figure(plotting.COLUMN if len(shown) < figures.FEW else plotting.PAGE, 0.33 * len(rows) + 0.6)
    grid = drawn.subplots(1, len(shown), sharex=True, sharey=True, squeeze=False)[0]
    for ax, (model, title) in zip(grid, shown.items(), strict=True):
        part = frame[frame.model == model].set_index(["form", "pronoun_type"])
        for y, form in enumerate(rows):
            for i, kind in enumerate(types):
                if (form, kind) not in part.index:
                    continue
                row = part.loc[(form, kind)]
                beside = 0.24 * (i - (len(types) - 1) / 2)
                figures.point(ax, row.difference, y + beside, row.ci_low, row.ci_high, figures.TYPE_LOOKS[kind])
        ax.set_title(title)
        ax.set_yticks(range(len(rows)), rows.values())
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.tick_params(axis="y", length=0)
        ax.grid(visible=False, axis="y")
        ax.grid(visible=True, axis="x")
        ax.set_xlabel("Declared minus undeclared")
    handles = [*figures.type_handles(types), plotting.interval_handle(figures.INTERVAL, "_")]
    handles.append(plotting.reference_line(grid, 0, "no difference", (0, (1, 1.2)), along="x"))
    plotting.legend_below(drawn, handles, 3)
    return drawn


def main(*, declared_forms: str, pdf: str, png: str, csv: str, models: dict):
    """Draw the figure; accuracies on few instances (:data:`scripts.core.plotting.FEWEST`) are left out."""
    frame = figures.read(declared_forms, ["difference"])
    enough = frame[["n_declared", "n_undeclared"]].min(axis=1) >= plotting.FEWEST
    frame = frame[enough & frame.model.isin(figures.panels(models))]
    plotting.save(draw(frame, models), frame, pdf, png, csv)


if __name__ == "__main__":
    run(main)
