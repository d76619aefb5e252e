"""Small parses, written by hand: ``word/tag/dependency/head/entity``, the last three with defaults."""

from scripts.counter_gap.book_names import Lexicon, Sentence, Token

NOBODY = Lexicon(set(), {})
GENDERS = {"Tom": "M", "Bill": "M", "Ann": "F", "Kate": "F", "Eve": "F", "Max": "M", "Paris": "M", "Darcy": "F"}
GLUED = {".", ",", ";", "?", "!", "'s", "'", "’s"}


def gender(word):
    """Stand in for gender-guesser."""
    return GENDERS.get(word)


def sentence(written, start=0, section=0):
    """Return a sentence and its text; ``start`` is its place in the book, heads are places (the token's own: -)."""
    tokens, text = [], ""
    for place, item in enumerate(written.split()):
        word, tag, dependency, head, entity = [*item.split("/"), "", "", "", ""][:5]
        if text and word not in GLUED:
            text += " "
        begin = start + len(text)
        text += word
        kind = {"P": "B-PERSON", "I": "I-PERSON", "G": "B-GPE"}.get(entity, entity)
        head = place if head in ("", "-") else int(head)
        tokens.append(Token(word, begin, begin + len(word), tag, dependency, head, kind))
    return Sentence(section, start, start + len(text), tuple(tokens)), text


def book(*written, section=0):
    """Return the sentences of a book and its text, with a space between sentences."""
    sentences, text = [], ""
    for one in written:
        made, words = sentence(one, len(text), section)
        sentences.append(made)
        text += words + " "
    return sentences, text
