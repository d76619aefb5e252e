"""From templates to instances: every sentence with every pronoun set, as one table.

Columns: ``instance_id``, ``text``, ``pronoun`` and ``pronoun_offset``, ``pronoun_set`` (its label, such as
he/him/his), ``case``, ``occupation``, ``occupation_offset``, ``participant``, ``participant_offset``, ``answer`` (whom
the pronoun means, ``occupation`` or ``participant``), ``ending`` (1 or 2 in its two templates), ``pair`` (both people),
``template`` (the same for all pronoun sets), ``template_pair`` (the same for both endings), and the lines of the
template files (``template_row``, ``pronoun_row``, ``occupation_row``). Offsets count code points from 0; a sentence
about one person has none for the other.

Rows are in the order of the templates, those of one template in the order of the pronoun sets. A converter that
carries answers over from row to row depends on this order (:mod:`scripts.winopron.lib.cluster_answers`).
"""

import re

import pandas as pd

from scripts.core.errors import UserError
from scripts.core.instances import content_id
from scripts.core.templates import label
from scripts.winopron.lib.templates import ANSWERS, PRONOUN

PLURAL_FORMS = {"was": "were", "is": "are", "has": "have", "does": "do"}
"""Verb forms directly after a nominative to those that *they* takes. WinoPron has none of them; of the 120 templates of
Winogender Schemas 17 have *was*, and their authors and WinoPron's write *they were*."""


def build(templates, entities, pronouns, pronoun_rows=None):
    """Return the instances of one template set.

    Parameters
    ----------
    templates : Templates
    entities : str
        ``double`` or ``single``.
    pronouns : dict of str to dict
        The sets of the run to their forms, in order. Two may share some of their forms.
    pronoun_rows : dict of str to int, optional
        The line of each set in its file.

    Returns
    -------
    DataFrame
        As the module says; templates times pronoun sets rows.

    Raises
    ------
    UserError
        If the set has no such sentences, or a sentence lacks a slot or a person.
    """
    partners = _partners(templates.rows)
    rows = []
    for template, (pair, ending) in zip(templates.rows, partners, strict=True):
        where = f"{templates.file}, row {template.row}"
        sentence = getattr(template, entities)
        if not sentence:
            raise UserError(f"{where}: the set '{templates.name}' has no {entities} sentences; use double")
        if sentence.count(PRONOUN) != 1:
            raise UserError(f"{where}: the {entities} sentence needs the slot {PRONOUN} once; correct it")
        before, _, after = sentence.partition(PRONOUN)
        people = {answer: _offset(before, getattr(template, answer)) for answer in ANSWERS}
        needed = ANSWERS if entities == "double" else (template.answer,)
        for answer in needed:
            if people[answer] is None:
                raise UserError(f"{where}: the {entities} sentence does not name the {answer} before the slot")
        for name, forms in pronouns.items():
            pronoun = forms[template.case]
            text = before + pronoun + agreed(after, template.case, forms)
            rows.append(
                {
                    "instance_id": content_id(
                        "winopron", text, "|".join(getattr(template, a) for a in ANSWERS), template.answer, label(forms)
                    ),
                    "text": text,
                    "pronoun": pronoun,
                    "pronoun_offset": len(before),
                    "pronoun_set": label(forms),
                    "case": template.case,
                    "occupation": template.occupation,
                    "occupation_offset": people["occupation"],
                    "participant": template.participant,
                    "participant_offset": people["participant"],
                    "answer": template.answer,
                    "ending": ending,
                    "pair": f"{template.occupation}-{template.participant}",
                    "template": f"{pair}-{ending}",
                    "template_pair": pair,
                    "template_row": template.row,
                    "occupation_row": templates.occupation_rows.get(template.occupation),
                    "pronoun_row": (pronoun_rows or {}).get(name),
                }
            )
    frame = pd.DataFrame(rows)
    for column in ("occupation_offset", "participant_offset", "occupation_row", "pronoun_row"):
        frame[column] = frame[column].astype("Int64")
    return frame


def agreed(after, case, forms):
    """Return what follows the pronoun, with the verb in the form that *they* takes.

    Parameters
    ----------
    after : str
        Of a template with *was* or another verb in the singular directly after the slot, or with none.
    case : str
    forms : dict
        Of the pronoun set.

    Examples
    --------
    >>> agreed(" was late.", "nominative", {"nominative": "they"})
    ' were late.'
    """
    if case != "nominative" or forms["nominative"] != "they":
        return after
    return re.sub(r"^ (\w+)", lambda match: f" {PLURAL_FORMS.get(match[1], match[1])}", after)


def _offset(text, word):
    match = re.search(rf"\b{re.escape(word)}\b", text)
    return match.start() if match else None


def _partners(rows):
    """Return for each template the name of its two and its place among them: they follow each other."""
    partners = []
    for number in range(len(rows)):
        first = rows[number - number % 2]
        partners.append((f"{first.occupation}-{first.case}", number % 2 + 1))
    return partners


def texts(instances):
    """Return what a coreference system is given: the text of each instance by its id."""
    return dict(zip(instances.instance_id, instances.text, strict=True))
