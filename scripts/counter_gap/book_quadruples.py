"""Make the labelled, balanced set of quadruples from candidates and annotators' labels, and its data card."""

import json
from pathlib import Path

from scripts.core import files
from scripts.core.errors import UserError
from scripts.core.job import log, run
from scripts.counter_gap.lib.books import output
from scripts.counter_gap.lib.books.passages import STEPS
from scripts.counter_gap.lib.instances import read_c_gap


def main(
    *, candidates: str, labels: str, funnel: str, facts: list, sentences: list, quadruples: str, card: str, seed: int
):
    """Write the ``quadruples``, in C-GAP's columns, and their data ``card``.

    Parameters
    ----------
    candidates : str
        Quadruples without labels.
    labels : str
        Majority labels of accepted instances: ID, A-coref, B-coref (CSV).
    funnel : str
        What is left of each book's pronouns after each step.
    facts : list of str
        What is known of each book (JSON).
    sentences : list of str
        The books' sentences, which say what parsed them.
    quadruples : str
        The set to write (TSV).
    card : str
        Its data card to write (Markdown).
    seed : int
        Seed of the draw that balances original genders.
    """
    found = read_c_gap(candidates, labelled=False)
    try:
        accepted = output.labelled(found, output.read_labels(labels))
    except UserError as error:
        raise UserError(f"{labels}: {str(error).removeprefix(f'{labels}: ')}") from error
    chosen = output.balanced(accepted, seed)
    if chosen.empty:
        raise UserError(
            f"{labels}: of {len(accepted) // 4} accepted quadruples none is left, since originals of both genders are "
            "needed; annotate more"
        )
    output.write_rows(quadruples, output.cells(chosen))
    read_c_gap(quadruples)
    counts = {"candidates": len(found) // 4, "accepted": len(accepted) // 4, "quadruples": len(chosen) // 4}
    totals = output.funnel_totals(files.read_csv(funnel))
    books = [json.loads(Path(path).read_text(encoding="utf-8")) for path in facts]
    parser = files.parquet_metadata(sentences[0])["parser"]
    files.write_text(card, output.card(books, totals, STEPS, parser, counts, seed))
    log.info("%d of %d accepted quadruples", counts["quadruples"], counts["accepted"])


if __name__ == "__main__":
    run(main)
