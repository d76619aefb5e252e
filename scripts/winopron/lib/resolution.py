"""Resolution by likelihood: the pronoun gives way to each person in turn, and the likelier sentence wins.

Trinh and Le (2018) resolve Winograd schemas so, by the likelihood of the whole sentence (full scoring) or of what
follows the person alone (partial scoring). The study does neither. The model never reads the pronoun, so that what it
takes is the same for all pronoun sets.
"""

import pandas as pd

from scripts.core import options
from scripts.core.errors import UserError
from scripts.core.instances import content_id
from scripts.winopron.lib.instances import PLURAL_FORMS
from scripts.winopron.lib.study import FULL, PARTIAL
from scripts.winopron.lib.templates import ANSWERS

TOKENS = 25
"""Tokens of a typical sentence."""
SHARED = 1.6
"""Tokens that a decoder reads of both options of a template together, in texts: they share what precedes the slot."""


SCORINGS = {FULL: "log_probability", PARTIAL: "continuation_log_probability"}
"""What the label of a system ends with to the column of scores that it goes by."""


def instances(sentences, pairs):
    """Return what models score: each template with a slot in place of the pronoun, and both people as options.

    Parameters
    ----------
    sentences : DataFrame
        Of :mod:`scripts.winopron.lib.instances`, about two people.
    pairs : sequence of str
        The pairs of people whose templates are scored.

    Returns
    -------
    DataFrame
        ``instance_id``, ``text`` with the slot, ``options`` (*the baker*, *the customer*; possessive *the baker's*),
        ``template``, ``case``, ``occupation``, ``participant``, ``answer``, ``pair`` and the lines of the template
        files, in the order of the text.
    """
    # Where a verb agrees with they, another set has the verb that a noun takes.
    plural = sentences.pronoun.isin(["they"]) & sentences.text.map(lambda text: any(_follows(text, PLURAL_FORMS)))
    kept = sentences[~plural & sentences.pair.isin(pairs)].drop_duplicates("template")
    rows = []
    for row in kept.itertuples():
        end = row.pronoun_offset + len(row.pronoun)
        text = row.text[: row.pronoun_offset] + options.SLOT + row.text[end:]
        mark = "'s" if row.case == "possessive" else ""
        offered = [f"the {getattr(row, who)}{mark}" for who in ANSWERS]
        rows.append(
            {
                "instance_id": content_id("winopron", text, "|".join(offered), offered[ANSWERS.index(row.answer)]),
                "text": text,
                "options": offered,
                "template": row.template,
                "case": row.case,
                "occupation": row.occupation,
                "participant": row.participant,
                "answer": row.answer,
                "pair": row.pair,
                "template_row": row.template_row,
                "occupation_row": row.occupation_row,
            }
        )
    return pd.DataFrame(rows).sort_values("text", kind="stable", ignore_index=True)


def _follows(text, forms):
    return (f" they {plural}" in text for plural in forms.values())


def predictions(scores, selected, sentences, column):
    """Return whom a model takes in every sentence of the templates that it scored.

    Parameters
    ----------
    scores : DataFrame
        Of :func:`scripts.core.model_outputs.read_scores`.
    selected : DataFrame
        Of :func:`instances`.
    sentences : DataFrame
    column : str
        Of ``scores``: one of :data:`SCORINGS`.

    Returns
    -------
    DataFrame
        ``instance_id`` (of ``sentences``), ``prediction``; equal likelihoods go to the occupation.

    Raises
    ------
    UserError
        If a template is none of ``sentences``, or a score is missing.
    """
    strange = next((name for name in selected.template if name not in set(sentences.template)), None)
    if strange is not None:
        raise UserError(f"the template '{strange}' was scored and has no sentence; delete the scores and run again")
    if column not in scores or scores[column].isna().any():
        raise UserError(f"the scores lack {column}; delete the scores and run again")
    picked = options.predict(scores.assign(log_probability=scores[column])).option_index
    taken = {row.template: ANSWERS[picked[row.instance_id]] for row in selected.itertuples()}
    kept = sentences[sentences.template.isin(taken)]
    return pd.DataFrame({"instance_id": list(kept.instance_id), "prediction": [taken[name] for name in kept.template]})
