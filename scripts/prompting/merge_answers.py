"""Put the shards of a model's answers to prompts together."""

from scripts.core.data import model_outputs
from scripts.core.workflow.job import run
from scripts.scoring.merge_scores import merge


def main(*, shards: list, answers: str) -> None:
    """Write ``answers`` (Parquet) from the files of ``shards``, in their order; errors as for scores."""
    merge(shards, answers, "text", "prompts", model_outputs.check_answers, model_outputs.ANSWERS)


if __name__ == "__main__":
    run(main)
