"""GAP's patterns of ambiguous pronouns (Webster et al. 2018; Xie et al. 2023, Section 2.1) in parsed sentences."""

from typing import NamedTuple

PRONOUNS = {"he": "M", "him": "M", "his": "M", "she": "F", "her": "F", "hers": "F"}
CLAUSES = ("advcl", "csubj", "csubjpass", "pcomp")
"""Dependencies of clauses that can be subordinate and come first."""
INDEPENDENT = ("attr", "pobj", "dobj", "nsubj", "nsubjpass", "conj", "acomp", "oprd")
"""Dependencies that a possessive by itself may have."""


class Match(NamedTuple):
    """A pattern and the mentions of the two candidates, as (sentences back from the pronoun's, mention), in order."""

    pattern: str
    a: tuple
    b: tuple


def target_gender(token):
    """Return M or F for a gendered pronoun that is not reflexive, else None."""
    return PRONOUNS.get(token.word.lower()) if token.tag in ("PRP", "PRP$") else None


def is_possessive(token, following):
    """Tell whether *her* or *his*, which two cases share, stands before what is possessed.

    Parameters
    ----------
    token : Token
    following : Token or None
        What is possessed, or what follows *his* by itself: *a friend of his*.
    """
    if token.tag != "PRP$" or token.dependency not in INDEPENDENT:
        return token.tag == "PRP$"
    return following is not None and (following.tag[:2] in ("NN", "JJ", "CD") or following.tag == "VBG")


def is_unclear(token, following):
    """Tell whether *her* may be the accusative or the possessive.

    Its tag and dependency disagree, or a gerund follows, which goes with both: *since her coming away*.

    Parameters
    ----------
    token : Token
    following : Token or None
    """
    if token.word.lower() != "her":
        return False
    return (token.tag == "PRP$") != (token.dependency == "poss") or (following is not None and following.tag == "VBG")


def stands_first(tokens, place):
    """Tell whether a pronoun is in an initial subordinate clause, or a possessive in an initial prepositional phrase.

    The clause or phrase comes before the verb that it belongs to and before that verb's subject.

    Parameters
    ----------
    tokens : sequence of Token
    place : int
    """
    possessive = tokens[place].tag == "PRP$"
    seen, here = set(), place
    while here not in seen and tokens[here].head != here:
        seen.add(here)
        token, head = tokens[here], tokens[here].head
        opens = token.dependency in CLAUSES or (token.dependency == "prep" and possessive)
        if opens and here < head and _before_subject(tokens, place, head):
            return True
        # A clause behind a preposition ("after seeing him") has the preposition before the verb.
        if (
            token.dependency == "pcomp"
            and head < tokens[head].head
            and _before_subject(tokens, place, tokens[head].head)
        ):
            return True
        here = head
    return False


def _before_subject(tokens, place, verb):
    subjects = [
        at
        for at, token in enumerate(tokens)
        if token.head == verb and token.dependency in ("nsubj", "nsubjpass", "expl")
    ]
    # What precedes the verb and is not before its subject stands in the middle.
    return place < min([*subjects, verb])


def match(sentences, mentions, names, place):
    """Find the pattern that a pronoun and its candidates are in.

    A pronoun that stands first belongs to the name behind it: MEDIALPRO and INITIALPRO go before FINALPRO, as in the
    study's data. Of several mentions of a name the nearest is taken.

    Parameters
    ----------
    sentences : list of Sentence
        The context; the pronoun is in the last one.
    mentions : list of list of Mention
        Of each sentence.
    names : collection of str
        The two candidates.
    place : int
        The pronoun's token in the last sentence.

    Returns
    -------
    Match or None
    """
    before, behind, earlier = {}, {}, {}
    for mention in mentions[-1]:
        if mention.name in names:
            if mention.last < place:
                before[mention.name] = (0, mention)
            else:
                behind.setdefault(mention.name, (0, mention))
    if len(mentions) > 1:
        earlier = {mention.name: (1, mention) for mention in mentions[-2] if mention.name in names}
    found = None
    if stands_first(sentences[-1].tokens, place):
        late = {name: at for name, at in behind.items() if name not in before}
        if len(late) == 2:
            found = "INITIALPRO", late.values()
        elif len(late) == 1:
            ((second, at),) = late.items()
            rest = [spot for name, spot in earlier.items() if name != second]
            if rest:
                found = "MEDIALPRO", (rest[0], at)
    if found is None and len(before) == 2:
        found = "FINALPRO", before.values()
    if found is None and len(earlier) == 2:
        found = "FINALPRO", earlier.values()
    if found is None:
        return None
    a, b = sorted(found[1], key=lambda spot: (-spot[0], spot[1].first))
    return Match(found[0], a, b)
