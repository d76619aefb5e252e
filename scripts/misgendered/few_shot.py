"""Put examples before MISGENDERED instances, for learning in context (Table 13 of the paper)."""

from scripts.core import files
from scripts.core.job import run
from scripts.misgendered.lib import declarations, few_shot, instances


def main(
    *, template_files: list, kinds: list, pronouns: str, combinations: str, pronoun_sets: list, wording: str,
    shots: int, draws: int, size: int, seed: int, selected: str,
):  # fmt: skip
    """Write instances with examples.

    Parameters
    ----------
    template_files, kinds, pronouns, combinations, pronoun_sets, wording
        As for the full sets' script.
    shots : int
        Examples before each instance.
    draws : int
        How often they are drawn anew.
    size : int
        Instances, before each of which examples are put.
    seed : int
    selected : str
        The Parquet file to write.
    """
    number = few_shot.declaration(declarations.read(combinations), combinations)
    given = dict(zip(kinds, template_files, strict=True))
    loaded = instances.load(given, pronouns, pronoun_sets, combinations, [few_shot.KIND], [number], wording)
    table = few_shot.table(loaded, shots, draws, size, seed)
    files.write_parquet(selected, table, few_shot.metadata(loaded, shots, draws, size, seed))


if __name__ == "__main__":
    run(main)
