"""The figures of the greetings, each by the function of its rule."""

from scripts.core import files
from scripts.core.paper import plotting
from scripts.core.workflow.job import run_named


@plotting.style()
def draw_choices(frame):
    """Draw one bar for each model and pronoun set; return the figure."""
    drawn = plotting.figure(plotting.COLUMN, 2)
    ax = drawn.subplots()
    ax.bar([f"{row.model}\n{row.pronoun}" for row in frame.itertuples()], frame["count"], color="#0072B2")
    ax.set_ylabel("Sentences")
    return drawn


def figure_choices(*, choices: str, pdf: str, png: str, csv: str):
    """Draw the figure; every row of the table is drawn."""
    frame = files.read_csv(choices)
    plotting.save(draw_choices(frame), frame, pdf, png, csv)


if __name__ == "__main__":
    run_named()
