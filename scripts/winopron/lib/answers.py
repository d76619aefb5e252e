"""Whom an answer in words names: as the authors' code reads it, and corrected."""

import re

import pandas as pd

from scripts.core import files, model_outputs
from scripts.core.errors import UserError
from scripts.winopron.lib.templates import ANSWERS

COLUMNS = ("instance_id", "prompt", "variant", "answer_text")
"""Columns of a file of answers in words, in any order: a row for each instance, prompt and variant of the prompt."""
READINGS = {"published": "as the authors read answers", "corrected": "corrected"}
"""Ways of reading an answer to their labels (:func:`named`, :func:`named_corrected`)."""
QUOTES_AND_STOPS = "\"'.`“”‘’"


def named(text, people):
    """Return whom an answer names, as the authors' code does: tokens in lower case without quotes and stops.

    Parameters
    ----------
    text : str
    people : dict of str to str
        ``occupation`` and ``participant`` to their words.

    Returns
    -------
    str or None
        The key of the one person whose word is among the tokens; None if there is none or both are.

    Examples
    --------
    >>> people = {"occupation": "baker", "participant": "customer"}
    >>> named("The Baker.", people), named("the baker, not the customer", people), named("the baker, surely", people)
    ('occupation', 'participant', None)
    """
    removed = str.maketrans("", "", QUOTES_AND_STOPS)
    return _only(set(text.lower().translate(removed).split()), people)


def named_corrected(text, people):
    """Return whom an answer names, whatever marks, possessive endings and capitals stand around the word.

    Returns
    -------
    str or None
        As :func:`named`.

    Examples
    --------
    >>> people = {"occupation": "baker", "participant": "customer"}
    >>> named_corrected("the baker, surely", people), named_corrected("The baker's hat!", people)
    ('occupation', 'occupation')
    >>> named_corrected("the baker, not the customer", people) is None
    True
    """
    return _only(set(re.findall(r"[^\W_]+(?:-[^\W_]+)*", re.sub(r"['’]s?\b", " ", text.lower()))), people)


def read(path, instances):
    """Read answers that somebody's system gave in words.

    Parameters
    ----------
    path : str or Path
        CSV with :data:`COLUMNS`; an empty cell is an empty answer.
    instances : DataFrame
        Of :mod:`scripts.winopron.lib.instances`.

    Returns
    -------
    DataFrame
        ``conversion`` (one of :data:`READINGS`), ``prompt``, ``variant``, ``instance_id``, ``prediction``; for each
        reading the rows of the file in their order.

    Raises
    ------
    UserError
        If the file cannot be read or lacks a column, an instance is unknown, asked twice with the same prompt and
        variant, or not asked with one that others were asked with. The message names file and row.
    """
    table = files.read_sheet(path, COLUMNS[0])
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise UserError(f"{path}, row 1: the column '{missing[0]}' is missing; the columns are {', '.join(COLUMNS)}")
    table = table[list(COLUMNS)]
    people = people_of(instances)
    asked = {}
    for row in table.itertuples():
        number = row.Index
        if row.instance_id not in people:
            raise UserError(
                f"{path}, row {number}: the instance {row.instance_id[:100]!r} is unknown; ask about the same instances"
            )
        key = (row.prompt, row.variant)
        if row.instance_id in asked.setdefault(key, {}):
            first = asked[key][row.instance_id]
            raise UserError(f"{path}, row {number}: asks what row {first} asks already; remove one")
        asked[key][row.instance_id] = number
    for (prompt, variant), rows in asked.items():
        if len(rows) < len(people):
            lacking = next(name for name in people if name not in rows)
            raise UserError(
                f"{path}: prompt '{prompt}', variant '{variant}' has no answer about '{lacking}' and "
                f"{len(people) - len(rows) - 1} others; ask about all instances"
            )
    return readings(table, people)


def readings(table, people):
    """Return whom answers name, in both ways of reading them.

    Parameters
    ----------
    table : DataFrame
        ``instance_id``, ``prompt``, ``variant``, ``answer_text``.
    people : dict of str to dict
        Instance to people, as :func:`named` takes them.

    Returns
    -------
    DataFrame
        As of :func:`read`.
    """
    ways = {"published": named, "corrected": named_corrected}
    texts = list(zip(table.answer_text, table.instance_id, strict=True))
    return pd.concat(
        [
            table.assign(
                conversion=way,
                prediction=pd.Series(
                    [ways[way](text, people[name]) for text, name in texts], table.index, dtype=object
                ),
            )
            for way in READINGS
        ],
        ignore_index=True,
    )[["conversion", "prompt", "variant", "instance_id", "prediction"]]


def of_model(path, model, prompts, instances):
    """Read what a model of the registry answered to prompts about one set of instances.

    Parameters
    ----------
    path : str or Path
        Its answers (``rules/prompting.smk``).
    model : str
    prompts : DataFrame
        All prompts of the file of prompts; those about other instances are left out.
    instances : DataFrame

    Returns
    -------
    DataFrame
        As of :func:`read`.

    Raises
    ------
    UserError
        If the answers are not those to the prompts.
    """
    answered = model_outputs.read_answers(path, model, prompts)[["text_id", "answer"]]
    asked = prompts[prompts.instance_id.isin(instances.instance_id)].merge(
        answered, on="text_id", validate="one_to_one"
    )
    return readings(asked.rename(columns={"answer": "answer_text"}), people_of(instances))


def people_of(instances):
    """Return the people of each instance: by id, ``occupation`` and ``participant`` to their words."""
    return {row.instance_id: {who: getattr(row, who) for who in ANSWERS} for row in instances.itertuples()}


def _only(words, people):
    found = [key for key, word in people.items() if word.lower() in words]
    return found[0] if len(found) == 1 else None
