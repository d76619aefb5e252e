"""Average what prompted models answer: with each prompt, over prompts, by place of the options, between prompts."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import prompting


def main(
    *,
    outputs: str,
    prompted_accuracy: str,
    prompted_summary: str,
    prompted_positions: str,
    prompted_agreement: str,
    n_options: int,
):
    """Write the four tables; :mod:`scripts.ruff.lib.analyses.prompting` says what is in them."""
    table = files.read_parquet(outputs)
    accuracy = prompting.by_prompt(table)
    files.write_csv(prompted_accuracy, accuracy)
    files.write_csv(prompted_summary, prompting.summary(accuracy))
    files.write_csv(prompted_positions, prompting.positions(table, n_options))
    files.write_csv(prompted_agreement, prompting.agreement(table))


if __name__ == "__main__":
    run(main)
