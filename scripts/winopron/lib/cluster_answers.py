"""From clusters to answers: whom a coreference system takes the pronoun to mean.

The corrected way looks at the pronoun's own mention and at the people of the sentence, by their places in the text. The
authors' converters look at words, and differ from system to system; with them the published numbers were made.
"""

import pandas as pd

from scripts.core import coreference
from scripts.winopron.lib.answers import named
from scripts.winopron.lib.instances import texts
from scripts.winopron.lib.person_rules import people
from scripts.winopron.lib.templates import ANSWERS

CONVERSIONS = {
    "corrected": "by places",
    "other_mention": "as the authors read LingMess and CAW-coref",
    "carried_over": "as the authors read SpanBERT",
}
"""Ways of converting to their labels.

``corrected``: the person whose mention shares the pronoun's cluster; nobody, if both people do or neither.
``other_mention``: in the first cluster with a mention that reads exactly as the pronoun does, capitals included, the
first mention that reads otherwise. ``carried_over``: the first mention of that cluster (whatever its capitals), even if
it is the pronoun; if no cluster has the pronoun, *the answer to the sentence before stays*, which makes an answer out
of none, and a right one wherever neighbouring sentences differ in the pronoun alone."""


def read(path, instances, conversion):
    """Read a system's clusters (the format of :mod:`scripts.core.coreference`) and convert them.

    Parameters
    ----------
    path : str or Path
    instances : DataFrame
        Of :mod:`scripts.winopron.lib.instances`, in their order.
    conversion : str
        One of :data:`CONVERSIONS`.

    Returns
    -------
    DataFrame
        As of :func:`convert`.

    Raises
    ------
    UserError
        If the file is not as described there, or has clusters of other texts.
    """
    return convert(coreference.read(path, texts(instances)), instances, conversion)


def convert(documents, instances, conversion):
    """Return whom each document's clusters name.

    Parameters
    ----------
    documents : dict of str to scripts.core.coreference.Document
        By instance.
    instances : DataFrame
    conversion : str

    Returns
    -------
    DataFrame
        ``instance_id``, ``prediction`` (``occupation``, ``participant`` or None), in the order of ``instances``.
    """
    predictions, before = [], None
    for row in instances.itertuples():
        document = documents[row.instance_id]
        if conversion == "corrected":
            predictions.append(_by_places(document, row))
            continue
        if conversion == "other_mention":
            answer = _other_mention(document, row)
        elif conversion == "carried_over":
            answer = before = _first_mention(document, row, before)
        else:
            raise ValueError(conversion)
        words = {key: getattr(row, key) for key in ANSWERS}
        predictions.append(None if answer is None else named(answer, words))
    return pd.DataFrame(
        {"instance_id": list(instances.instance_id), "prediction": pd.Series(predictions, dtype=object)}
    )


def _by_places(document, row):
    """Return the one person with a mention in the pronoun's cluster.

    A mention is a person's if it begins with the person's word or the article before it, goes as far as the word at
    least (*the visitor from the museum*) and does not reach the other person or the pronoun.
    """
    pronoun = document.span(row.pronoun_offset, row.pronoun_offset + len(row.pronoun))
    spans = people(row, document.tokens)
    meant = set()
    for cluster in document.clusters_with(pronoun):
        for first, last in cluster:
            for answer, (start, end) in spans.items():
                # The span of a person begins with the article, if there is one; systems may leave it out.
                others = [pronoun[0], *(s for other, (s, _) in spans.items() if other != answer)]
                reaches = any(first <= place <= last for place in others)
                if start <= first <= end <= last and not reaches:
                    meant.add(answer)
    return meant.pop() if len(meant) == 1 else None


def _mentions(document, row):
    for cluster in document.clusters:
        yield [row.text[document.tokens[first][0] : document.tokens[last][1]] for first, last in cluster]


def _other_mention(document, row):
    for mentions in _mentions(document, row):
        if row.pronoun in mentions:
            return next((mention for mention in mentions if mention != row.pronoun), None)
    return None


def _first_mention(document, row, before):
    for mentions in _mentions(document, row):
        if row.pronoun.lower() in (mention.lower() for mention in mentions):
            return mentions[0]
    return before
