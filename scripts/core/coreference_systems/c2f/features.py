"""What the words themselves say: the case of a word, and what two mentions share.

The published system has neither feature. They help a small encoder whose tokenizer knows no upper case, and one that
was trained on few documents, to tell two people of one gender apart.
"""

from collections.abc import Sequence

import torch

# Classes of :func:`word_cases`: no letter first, lower case, capital first, all capitals, capital first in a sentence.
CASES = 5
# Classes of :func:`pair_classes`.
ONE_PRONOUN, SAME_WORDS, SAME_LAST, SHARED, TWO_NAMES, OTHER, SAME_PRONOUN, TWO_PRONOUNS = range(8)
PAIRS = 8

PRONOUNS = frozenset(
    {
        "i", "me", "my", "mine", "myself", "you", "your", "yours", "yourself", "he", "him", "his", "himself", "she",
        "her", "hers", "herself", "they", "them", "their", "theirs", "themselves", "themself", "we", "us", "our",
        "ours", "ourselves", "it", "its", "itself", "who", "whom", "whose",
    }
)  # fmt: skip
# Words that say nothing of whom a mention names.
EMPTY = frozenset(
    {
        "the", "a", "an", "this", "that", "these", "those", "mr", "mr.", "mrs", "mrs.", "miss", "ms", "ms.", "dr",
        "dr.", "sir", "lady", "lord", "of", "and", "my", "his", "her", "their", "our", "your", "its", "'s", "'",
        ",", ".", "-",
    }
)  # fmt: skip

_PLAIN = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"})
_WHOLE = {"\u2014": "--", "``": '"', "''": '"', "-LRB-": "(", "-RRB-": ")"}


def plain_punctuation(word: str) -> str:
    """Return a word with plain quotation marks and brackets, as encoders saw them in training."""
    return _WHOLE.get(word, word).translate(_PLAIN)


def word_cases(words: Sequence[str], sentences: Sequence[tuple[int, int]]) -> list[int]:
    """Return the case of each word; ``sentences``: half-open ranges of words.

    0: no letter first; 1: lower case; 2: a capital; 3: capitals only; 4: a capital at the beginning of a sentence,
    where it says little.
    """
    first = {start for start, _ in sentences}
    return [_case(word, index in first) for index, word in enumerate(words)]


def _case(word: str, is_first: bool) -> int:
    if not word[:1].isalpha():
        return 0
    if word.islower():
        return 1
    if word.isupper() and len(word) > 1:
        return 3
    return 4 if is_first else 2


def pair_classes(words: Sequence[str], cases: Sequence[int], spans: Sequence[tuple[int, int]]) -> torch.Tensor:
    """Return the class of each pair of mentions.

    Args:
        cases: As from :func:`word_cases`.
        spans: First and last word of each mention, both included.

    Returns:
        Shape ``(spans, spans)``, int64, symmetric: one of the two is a pronoun; all words the same; the same last word;
        another word in common; two names without a common word; none of these; the same pronoun twice; two pronouns.
        Articles, titles, possessive pronouns and marks do not count as words.
    """
    vocabulary = {}
    rows, whole, last, names, pronouns = [], [], [], [], []
    for start, end in spans:
        lower = [plain_punctuation(word).lower() for word in words[start : end + 1]]
        content = [word for word in lower if word not in EMPTY] or lower
        rows.append([vocabulary.setdefault(word, len(vocabulary)) for word in content])
        whole.append(" ".join(content))
        last.append(rows[-1][-1])
        pronouns.append(start == end and lower[0] in PRONOUNS)
        names.append(any(cases[i] in (2, 3) or (cases[i] == 4 and start == end) for i in range(start, end + 1)))
    size = len(rows)
    bag = torch.zeros(size, max(1, len(vocabulary)))
    for number, row in enumerate(rows):
        bag[number, row] = 1
    numbers = {words: number for number, words in enumerate(dict.fromkeys(whole))}
    whole = torch.tensor([numbers[words] for words in whole], dtype=torch.long)
    last = torch.tensor(last, dtype=torch.long)
    names, pronouns = torch.tensor(names, dtype=torch.bool), torch.tensor(pronouns, dtype=torch.bool)
    classes = torch.full((size, size), OTHER)
    classes[names[:, None] & names] = TWO_NAMES
    classes[bag @ bag.T > 0] = SHARED
    classes[last[:, None] == last] = SAME_LAST
    same = whole[:, None] == whole
    classes[same] = SAME_WORDS
    classes[pronouns[:, None] ^ pronouns] = ONE_PRONOUN
    both = pronouns[:, None] & pronouns
    classes[both] = TWO_PRONOUNS
    classes[both & same] = SAME_PRONOUN
    return classes
