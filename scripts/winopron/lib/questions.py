"""What annotators are asked about WinoPron's sentences (Appendix C.1.2): whether the pronoun refers to each person."""

import pandas as pd

from scripts.winopron.lib.templates import ANSWERS


def items(instances):
    """Return the items of a set of instances (:mod:`scripts.core.annotation`).

    Parameters
    ----------
    instances : DataFrame

    Returns
    -------
    DataFrame
        One item for each person that a sentence names. A sentence is right if the pronoun refers to the one person and
        not to the other.
    """
    rows = [
        {
            "item_id": f"{row.instance_id}-{who}",
            "group": row.instance_id,
            "sentence": row.text,
            "question": f"Does the pronoun {row.pronoun} refer to the {getattr(row, who)}?",
            "expected": "yes" if row.answer == who else "no",
        }
        for row in instances.itertuples()
        for who in ANSWERS
        if not pd.isna(getattr(row, f"{who}_offset"))
    ]
    return pd.DataFrame(rows)
