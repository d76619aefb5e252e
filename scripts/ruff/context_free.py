"""Make the context-free RUFF instances: each task sentence alone, without a right answer (section 5 of the paper)."""

from scripts.core import files
from scripts.core.job import run
from scripts.ruff.lib import narratives


def main(
    *,
    pronouns: str,
    pronoun_sets: list,
    context_free: str,
    task: str | None = None,
    context: str | None = None,
    occupations: str | None = None,
    archive: str | None = None,
):
    """Write the instances to ``context_free``; the other arguments are those of :func:`scripts.ruff.instances.main`."""
    templates, sets = narratives.load(
        pronouns, pronoun_sets, task=task, context=context, occupations=occupations, archive=archive
    )
    metadata = {
        "study": narratives.STUDY,
        "templates": templates.name,
        "pronoun_sets": list(sets),
        "origins": templates.origins(),
    }
    files.write_parquet(context_free, narratives.Narratives(templates, sets).context_free(), metadata)


if __name__ == "__main__":
    run(main)
