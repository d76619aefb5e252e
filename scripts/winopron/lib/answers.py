"""Whom an answer in words names: as the authors' code reads it, and corrected."""

import re

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


def _only(words, people):
    found = [key for key, word in people.items() if word.lower() in words]
    return found[0] if len(found) == 1 else None
