"""List the digests of a model's card and of everything behind it."""

from pathlib import Path

from scripts.core import files
from scripts.core.provenance import audit, closure, job_records
from scripts.core.provenance import manifest as manifests
from scripts.core.workflow.job import log, run

ROOT = Path(__file__).resolve().parents[2]


def main(*, card: list, manifest: str) -> None:
    """Write ``manifest``, what ``python -m scripts.audit --against`` compares a published card with.

    Args:
        card: The card's PDF and HTML page and its table of findings.
        manifest: The list, as ``sha256sum --check`` reads it, with what the records say of how each file was made.
    """
    records = job_records.load()
    jobs = audit.recorded_jobs(
        card, records, lambda path, rule: closure.rule_digest(path, ROOT, rule), lambda _path, _names: {}
    )
    files.write_text(manifest, manifests.make(jobs, records))
    log.info("%s: the digests of the card and all behind it; its own SHA-256 is %s", manifest, files.sha256(manifest))


if __name__ == "__main__":
    run(main)
