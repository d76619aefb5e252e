"""Instances with options: what is offered, filling the slot, choosing among scored options, and chance.

Options are distinct forms. Where two pronoun sets share a form, it is one option, right for both of them, and there is
one option less. Equal scores go to the option that comes first in the instance's list of options.
"""

from collections.abc import Collection, Iterable, Mapping
from statistics import fmean

import numpy as np
import pandas as pd

from scripts.core.errors import UserError

SLOT = "___"


def fill_slot(text: str, option: str, capitals: bool = True) -> str:
    """Return ``text`` with its slot replaced by ``option``, capitalised at the start of the text or of a sentence.

    Args:
        capitals: False leaves the option as it is wherever it stands.
    """
    before, slot, after = text.partition(SLOT)
    if not slot or SLOT in after:
        raise UserError(f"an instance must hold the slot {SLOT} exactly once; this one does not: {text[:60]!r}")
    if capitals and (not before.strip() or before.rstrip().endswith((".", "!", "?"))):
        option = option[:1].upper() + option[1:]
    return before + option + after


def candidate_forms(sets: Mapping[str, dict], form: str) -> dict[str, tuple[str, ...]]:
    """Return the options of a slot, each with the sets that it belongs to, both in the order of ``sets``.

    Two sets may share a form (*em* of e and ey). It is one option, and right for both.

    Args:
        sets: Pronoun set to its forms by name.
        form: The name of the form that the slot wants, such as ``accusative``.
    """
    options = {}
    for name, forms in sets.items():
        options[forms[form]] = (*options.get(forms[form], ()), name)
    return options


def option_texts(instances: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each option of each distinct instance.

    Args:
        instances: Columns ``instance_id``, ``text``, ``options`` (a sequence of forms). An instance drawn into several
            samples has one id and is scored once.

    Returns:
        Columns ``instance_id``, ``option_index``, ``option``, ``masked`` (the text with its slot), ``filled`` (the
        option as it stands in the text, capitalised where a sentence starts) and ``text`` (slot filled), in the order
        of first appearance.

    Raises:
        UserError: If an instance offers an option twice, or :func:`fill_slot` refuses it.
    """
    distinct = instances.drop_duplicates("instance_id")
    rows = []
    for identifier, masked, options in zip(distinct.instance_id, distinct.text, distinct.options, strict=True):
        repeated = next((option for i, option in enumerate(options) if option in options[:i]), None)
        if repeated is not None:
            raise UserError(f"instance {identifier}: the option '{repeated}' is offered twice; offer every form once")
        before, after = map(len, masked.split(SLOT, 1)) if SLOT in masked else (0, 0)
        for index, option in enumerate(options):
            text = fill_slot(masked, option)
            rows.append((identifier, index, option, masked, text[before : len(text) - after], text))
    return pd.DataFrame(rows, columns=["instance_id", "option_index", "option", "masked", "filled", "text"])


def option_counts(instances: pd.DataFrame) -> pd.Series:
    """Return how many options each distinct instance has, by ``instance_id``, for :func:`pick_best`."""
    distinct = instances.drop_duplicates("instance_id")
    return pd.Series(distinct.options.map(len).to_numpy(), index=distinct.instance_id.to_numpy())


def pick_best(scores: pd.DataFrame, offers: pd.Series | None = None) -> pd.DataFrame:
    """Return the option that each instance's scores favour.

    Args:
        scores: A row for each instance and option (:data:`scripts.core.scoring.criteria.COLUMNS`).
        offers: How many options each instance has (:func:`option_counts`). Without it, every instance must have as many
            as the others.

    Returns:
        Indexed by ``instance_id``: ``option_index`` of the highest log-probability (ties go to the earlier option),
        ``margin`` (nats between the best and the second option) and ``tie`` (bool, the margin is exactly zero).

    Raises:
        UserError: If an instance lacks the score of an option.
    """
    table = scores.pivot(index="instance_id", columns="option_index", values="log_probability")
    if offers is not None:
        wanted = offers.index.get_indexer(table.index) >= 0
        table = table[wanted].reindex(columns=range(offers.max()))
    values = table.to_numpy()
    expected = np.full(len(table), values.shape[1]) if offers is None else offers.reindex(table.index).to_numpy()
    if (np.isnan(values) != (np.arange(values.shape[1]) >= expected[:, None])).any():
        raise UserError("the scores lack an option for some instance; delete the score file and run the workflow again")
    values = np.where(np.isnan(values), -np.inf, values)
    ordered = np.sort(values, axis=1)
    margin = ordered[:, -1] - ordered[:, -2]
    tie = margin == 0
    return pd.DataFrame(
        {"option_index": table.columns.to_numpy()[values.argmax(axis=1)], "margin": margin, "tie": tie},
        index=table.index,
    )


def predicted_form(instances: pd.DataFrame, picks: pd.DataFrame) -> list[str]:
    """Return the form of the pick (:func:`pick_best`) for each row of ``instances``."""
    indices = picks.option_index.reindex(instances.instance_id)
    return [options[index] for options, index in zip(instances.options, indices, strict=True)]


def chance_of_sets(sets: Mapping[str, dict], slots: Iterable[str]) -> float:
    """Return the accuracy of a random pick where every slot, such as ``accusative``, asks for every set alike."""
    asked = [(list(candidate_forms(sets, slot)), forms[slot]) for slot in slots for forms in sets.values()]
    return chance_accuracy(*zip(*asked, strict=True))


def other_choice(sets: Iterable[str], of_study: Collection[str]) -> str:
    """Return why no model of a run with these pronoun sets can be compared with a study's, or an empty string.

    Chance and every accuracy depend on the options, so a run with other pronoun sets is another experiment.
    """
    return "" if set(sets) == set(of_study) else f"not in this run: a choice among exactly {', '.join(of_study)}"


def chance_accuracy(options: Iterable[Collection[str]], gold: Iterable[str]) -> float:
    """Return the accuracy of a random pick: the mean over instances of the share of options that are right."""
    shares = []
    for offer, right in zip(options, gold, strict=True):
        if right not in offer:
            raise ValueError(f"{right!r} is not among the options {', '.join(offer)}")
        shares.append(1 / len(offer))
    return fmean(shares)
