"""Score a few texts of a job here, in float32 and one at a time: what a server's scores of them are compared with."""

from scripts.core import files
from scripts.core.engines import model_jobs, server_gate
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run

LIBRARIES = ("torch", "transformers", "tokenizers")


def main(
    *,
    instances: str,
    reference: str,
    model: str,
    entry: dict,
    device: str,
    priority: int | None = None,
    weights: str | None = None,
    fetched: str | None = None,
    threads: int = 1,
) -> None:
    """Write ``reference`` (Parquet): scores of a sample of ``instances`` (Parquet) by ``model``.

    Args:
        instances: Parquet file of instances, one row each (scripts/core/data/instances.py has the columns).
        reference: Parquet file to write: one row for each instance and option, with its log-probability in nats.
        model: The name of the model with weights, for messages and metadata.
        entry: Its entry in the registry, in float32.
        device: auto, cpu, cuda or cuda:N.
        priority: Instances whose ``priority`` is not below this are left out; None leaves none out.
        weights: Folder that the workflow prepared from the model's source, where it needs preparing.
        fetched: JSON file that says which revision was fetched from the hub.
        threads: Threads of PyTorch.

    Raises:
        UserError: If the model cannot be loaded, or there are no instances.
    """
    sample = server_gate.draw_instances(instances, priority)
    if not len(sample):
        raise UserError(f"{instances}: no instances; delete the file and run the workflow again")
    opened = model_jobs.open_model(
        model, entry, script="scripts/servers/score_reference.py", libraries=LIBRARIES, device=device,
        threads=threads, weights=weights, fetched=fetched,
    )  # fmt: skip
    table = server_gate.score_here(opened.network, opened.tokenizer, sample, opened.device)
    facts = opened.facts | {"engine": "one at a time", "instances_sha256": files.sha256(instances)}
    files.write_parquet(reference, table.drop(columns="token_log_probabilities"), facts)
    log.info("%d texts of %d instances scored by %s in float32", len(table), len(sample), model)


if __name__ == "__main__":
    run(main)
