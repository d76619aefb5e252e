"""What prompts begin with, read once: first what all prompts of a batch share, then what groups of them share."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from scripts.core.scoring.tree import common_prefix

LEAST_SHARED = 8
"""Shorter beginnings are not worth the copies of their keys and values."""


@dataclass(frozen=True)
class Layout:
    """How the prompts of a batch are cut into what all begin with, what their group begins with, and their own rest.

    Attributes:
        shared: Tokens that all begin with.
        groups: The prompts, by their numbers, of each group; without a beginning of groups all are one.
        prefixes: Tokens that the prompts of each group begin with, at least the shared ones.
        widths: Columns of the three parts: the longest of each.
    """

    shared: int
    groups: list[list[int]]
    prefixes: list[int]
    widths: tuple[int, int, int]

    @property
    def tokens(self) -> int:
        """Tokens that are read, padding included."""
        return int(np.dot(self.widths, (1, len(self.groups), sum(map(len, self.groups)))))


def single_part(ids: Sequence[Sequence[int]]) -> Layout:
    """Return a layout in which nothing is shared."""
    return Layout(0, [list(range(len(ids)))], [0], (0, 0, max(map(len, ids))))


def lay_out(ids: Sequence[Sequence[int]]) -> Layout:
    """Return the layout that reads the fewest tokens; each prompt keeps one, whose logits say what comes next."""
    arrays, sizes = [np.array(tokens) for tokens in ids], [len(tokens) for tokens in ids]
    order = sorted(range(len(ids)), key=lambda row: tuple(ids[row]))
    common = [common_prefix(arrays[a], arrays[b]) for a, b in pairwise(order)]
    shared = min([*common, min(sizes) - 1]) if common else 0
    shared = shared if shared >= LEAST_SHARED else 0
    best = Layout(shared, [order], [shared], (shared, 0, max(sizes) - shared))
    # Prompts are of one group that share at least so many tokens with their neighbours.
    for least in sorted({size for size in common if size >= shared + LEAST_SHARED}):
        bounds = [0, *(place for place, size in enumerate(common, 1) if size < least), len(order)]
        spans = list(pairwise(bounds))
        groups = [order[start:stop] for start, stop in spans]
        prefixes = [
            min([*common[start : stop - 1], *(sizes[row] - 1 for row in order[start:stop])]) for start, stop in spans
        ]
        pairs = list(zip(groups, prefixes, strict=True))
        rest = max(sizes[row] - prefix for group, prefix in pairs if len(group) > 1 for row in group)
        # A prompt by itself leaves as much to its own part as the others do.
        prefixes = [max(shared, sizes[group[0]] - rest) if len(group) == 1 else prefix for group, prefix in pairs]
        made = Layout(shared, groups, prefixes, (shared, max(prefixes) - shared, rest))
        best = min(best, made, key=lambda layout: layout.tokens)
    return best
