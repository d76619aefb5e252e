"""Instances with options: filling the slot, and choosing among scored options.

Equal scores go to the option that comes first in the instance's list of options.
"""

import numpy as np
import pandas as pd

from scripts.core.errors import UserError

SLOT = "___"


def fill(text, option):
    """Return ``text`` with its slot replaced by ``option``, capitalised at the start of the text or of a sentence.

    Raises
    ------
    UserError
        If ``text`` does not hold the slot ``___`` exactly once.
    """
    before, slot, after = text.partition(SLOT)
    if not slot or SLOT in after:
        raise UserError(f"an instance must hold the slot {SLOT} exactly once; this one does not: {text[:60]!r}")
    if not before.strip() or before.rstrip().endswith((".", "!", "?")):
        option = option[:1].upper() + option[1:]
    return before + option + after


def offered(sets, form):
    """Return the options of a slot: the distinct forms of some pronoun sets, each with the sets that it belongs to.

    Two sets may share a form (*em* of e and ey). It is one option, and right for both.

    Parameters
    ----------
    sets : dict of str to dict
        Pronoun set to its forms by name.
    form : str
        The name of the form that the slot wants, such as ``accusative``.

    Returns
    -------
    dict of str to tuple of str
        Option to its sets, both in the order of ``sets``.
    """
    options = {}
    for name, forms in sets.items():
        options[forms[form]] = (*options.get(forms[form], ()), name)
    return options


def option_texts(instances):
    """Return one row for each option of each distinct instance.

    Parameters
    ----------
    instances : DataFrame
        Columns ``instance_id``, ``text``, ``options`` (a sequence of forms). An instance drawn
        into several samples has one id and is scored once.

    Returns
    -------
    DataFrame
        Columns ``instance_id``, ``option_index``, ``option``, ``masked`` (the text with its slot), ``filled`` (the
        option as it stands in the text, capitalised where a sentence starts) and ``text`` (slot filled), in the order
        of first appearance.
    """
    distinct = instances.drop_duplicates("instance_id")
    rows = []
    for identifier, masked, options in zip(distinct.instance_id, distinct.text, distinct.options, strict=True):
        before, after = map(len, masked.split(SLOT, 1)) if SLOT in masked else (0, 0)
        for index, option in enumerate(options):
            text = fill(masked, option)
            rows.append((identifier, index, option, masked, text[before : len(text) - after], text))
    return pd.DataFrame(rows, columns=["instance_id", "option_index", "option", "masked", "filled", "text"])


def predict(scores):
    """Return the option that each instance's scores favour.

    Parameters
    ----------
    scores : DataFrame
        As returned by :func:`scripts.core.scoring.score_instances`.

    Returns
    -------
    DataFrame
        Indexed by ``instance_id``: ``option_index`` of the highest log-probability (ties go to the earlier option),
        ``margin`` (nats between the best and the second option) and ``tie`` (bool, the margin is exactly zero).
    """
    table = scores.pivot(index="instance_id", columns="option_index", values="log_probability")
    values = table.to_numpy()
    if np.isnan(values).any():
        raise UserError("the scores lack an option for some instance; delete the score file and run the workflow again")
    ordered = np.sort(values, axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    return pd.DataFrame(
        {"option_index": table.columns.to_numpy()[values.argmax(axis=1)], "margin": margin, "tie": margin == 0},
        index=table.index,
    )
