"""Tabulate and draw how many gendered pronouns of the books are left after each step on the way to quadruples."""

from scripts.core import files, plotting
from scripts.core.job import run
from scripts.core.paper import latex
from scripts.counter_gap.lib.books.output import funnel_totals
from scripts.counter_gap.lib.books.passages import STEPS


@plotting.style()
def draw(totals):
    """Draw a bar for each step, on a logarithmic scale, with the number of pronouns that are left."""
    drawn = plotting.figure(plotting.COLUMN, 2.4)
    ax = drawn.subplots()
    places = range(len(totals))
    ax.barh(places, totals.left.where(totals.left > 0), color=plotting.CATEGORIES[2], height=0.7)
    ax.set_xscale("log")
    # Room for the number behind the longest bar.
    ax.set_xlim(1, 20 * max(totals.left.max(), 10))
    ax.grid(axis="x")
    ax.grid(axis="y", visible=False)
    for place, left in zip(places, totals.left, strict=True):
        ax.annotate(
            f"{left:,}", (max(left, 1), place), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7
        )
    ax.set_yticks(list(places), [STEPS[step] for step in totals.step])
    ax.invert_yaxis()
    ax.set_xlabel("pronouns left")
    return drawn


def main(*, funnel: str, table: str, tex: str, pdf: str, png: str, csv: str):
    """Write the ``table`` over all books (CSV and LaTeX) and the figure.

    Parameters
    ----------
    funnel : str
        What is left of each book's pronouns after each step.
    """
    totals = funnel_totals(files.read_csv(funnel))
    files.write_csv(table, totals)
    lines = [r"\begin{tabular}{lrrr}", r"\toprule", r"step & left & dropped & share \\", r"\midrule"]
    for row in totals.itertuples():
        share = "--" if row.share != row.share else rf"{100 * row.share:.1f}\,\%"
        lines.append(rf"{latex.escape(STEPS[row.step])} & {row.left:,} & {row.dropped:,} & {share} \\")
    files.write_text(tex, "\n".join([*lines, r"\bottomrule", r"\end{tabular}"]) + "\n")
    plotting.save(draw(totals), totals, pdf, png, csv)


if __name__ == "__main__":
    run(main)
