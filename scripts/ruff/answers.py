"""Reading a pronoun out of what a prompted model wrote.

The study gives "unique pronouns, if any" and no code. Here:

1. The text is lower-cased and cut into words, which are runs of letters: quotes, stops, dashes, underscores, slashes
   and apostrophes end a word, so *her.*, *"Her"*, *__her__* and *he's* hold *her* and *he*, and *she/her* two words.
2. Words that are the form of a pronoun set in the instance's case count. The answer is that set if all of them are the
   same form, however often it comes.
3. Two different forms of the case are no answer (``several``): also where a model lists the options, or reasons about
   all of them and then decides.
4. Without any form of the case, a form of some set in another case is an answer in the wrong case (``wrong_case``).
   Forms that two cases share (*her*, *his*) belong to the instance's case where that is one of them.
5. Everything else is no answer (``none``).

Only ``right`` is right: accuracy is its share among all outputs, as in the study.
"""

import re

OUTCOMES = ("right", "wrong", "wrong_case", "several", "none")
"""What an output comes to, in the order of tables and figures."""

UNREADABLE = ("several", "none")
"""Outcomes that give no answer at all."""


def words(text):
    """Return the lower-cased words of a text."""
    return re.findall(r"[^\W\d_]+", text.lower())


def read(text, case, pronouns):
    """Return what a text says.

    Parameters
    ----------
    text : str
    case : str
        The grammatical case of the instance's slot.
    pronouns : dict of str to dict
        Pronoun set to its forms by name (:func:`scripts.core.templates.read_pronouns`), those of the run.

    Returns
    -------
    tuple of (str, str or None)
        ``one`` with the pronoun set, ``wrong_case`` with the set if all forms that are found belong to one set,
        otherwise with None, ``several`` or ``none`` with None.
    """
    found = words(text)
    of_case = {forms[case]: name for name, forms in pronouns.items()}
    named = {of_case[word] for word in found if word in of_case}
    if named:
        return ("one", named.pop()) if len(named) == 1 else ("several", None)
    # A form may be that of more than one set (em of both e and ey).
    owners = {word: {name for name, forms in pronouns.items() if word in forms.values()} for word in found}
    elsewhere = [sets for sets in owners.values() if sets]
    if elsewhere:
        common = set.intersection(*elsewhere)
        return "wrong_case", common.pop() if len(common) == 1 else None
    return "none", None


def judge(text, case, gold, pronouns):
    """Return the outcome of a text, one of :data:`OUTCOMES`, and the pronoun set that it names, or None.

    Parameters
    ----------
    text, case : str
    gold : str
        The right pronoun set.
    pronouns : dict
        As for :func:`read`.
    """
    kind, name = read(text, case, pronouns)
    if kind == "one":
        return ("right" if name == gold else "wrong"), name
    return kind, name
