"""Set accuracies on the replica templates beside those on the official templates."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib.analyses import comparison as analysis


def main(*, replica: str, official: str, template_comparison: str):
    """Write one row for each model and number of distractors."""
    files.write_csv(template_comparison, analysis.compare_templates(files.read_csv(replica), files.read_csv(official)))


if __name__ == "__main__":
    run(main)
