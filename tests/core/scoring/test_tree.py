"""Packed sequences: every text is in them once, sees what it would see alone, and shares what it can."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scripts.core.scoring import tree

# Two kinds of token only, so that beginnings are often shared.
sequences = st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=8).map(np.array), min_size=1, max_size=25)


@given(sequences, st.integers(1, 40))
def test_every_text_sees_itself_and_nothing_else(texts, size):
    packs = tree.pack_sequences(texts, size)
    names = [name for pack in packs for name in pack.paths]
    assert sorted(names) == list(range(len(texts)))
    for pack in packs:
        first = len(texts[next(iter(pack.paths))])
        assert len(pack) <= tree.largest_pack(first, size, None)
        visible = pack.visible()
        for name, path in pack.paths.items():
            assert pack.tokens[path].tolist() == texts[name].tolist()
            assert pack.depths[path].tolist() == list(range(len(path)))
            assert pack.parents[path].tolist() == [-1, *path[:-1]]
            for depth, node in enumerate(path):
                assert np.flatnonzero(visible[node]).tolist() == sorted(path[: depth + 1])


@given(sequences)
def test_without_a_limit_nothing_is_computed_twice(texts):
    prefixes = {tuple(text[:n]) for text in texts for n in range(1, len(text) + 1)}
    (pack,) = tree.pack_sequences(texts, 10_000)
    assert len(pack) == len(prefixes)


@given(sequences, st.integers(1, 40), st.randoms())
def test_order_does_not_matter(texts, size, random):
    shuffled = list(texts)
    random.shuffle(shuffled)
    first, second = tree.pack_sequences(texts, size), tree.pack_sequences(shuffled, size)
    assert [p.tokens.tolist() for p in first] == [p.tokens.tolist() for p in second]


@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 200))
def test_short_texts_keep_to_the_size_of_a_pack_and_all_to_the_limit(length, size, limit):
    largest = tree.largest_pack(length, size, limit)
    assert length <= largest <= max(length, limit)
    if length <= size / 2:
        assert largest == min(size, max(length, limit))


def test_options_of_a_long_text_share_its_beginning():
    long = [np.array([*range(1000, 1090), option, 5, 6]) for option in range(11)]
    # In packs of 100 tokens each option would be computed from the beginning, in 11 x 93 tokens.
    (pack,) = tree.pack_sequences(long, 100)
    assert len(pack) == 90 + 11 * 3
    assert len(tree.pack_sequences(long, 100, limit=100)) == 4


def test_cuts_are_made_where_little_is_shared():
    groups = [np.array([g, *range(10, 20), option]) for g in range(4) for option in range(3)]
    packs = tree.pack_sequences(groups, 30)
    # A group takes 11 + 3 tokens; two fit, and the third would be cut in its middle.
    assert [len(pack) for pack in packs] == [28, 28]
