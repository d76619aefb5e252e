"""Token sequences that begin alike, computed once: prefix trees packed into one sequence each.

A decoder's log-probability of a token depends on the tokens before it and on nothing else, so texts with a common
beginning can share its computation. Their tokens form a tree; laid out as one sequence, in which a token attends to
its ancestors alone and its position is its depth, one forward pass gives every text what it would get by itself
(tree attention: Miao et al. 2024, SpecInfer). Options of an instance share all tokens up to the slot,
and neighbouring instances share introductions and distractor sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


@dataclass(frozen=True)
class Pack:
    """One packed sequence of ``n`` tokens.

    Attributes:
        tokens: Shape (n,), of int64.
        depths: Position of each token in the texts that it belongs to. Shape (n,), of int64.
        parents: Index of the token before it, always smaller than its own; -1 at the beginning of a text. Shape (n,),
            of int64.
        paths: For each text, the indices of its tokens in order. Of int64.
    """

    tokens: np.ndarray
    depths: np.ndarray
    parents: np.ndarray
    paths: dict

    def __len__(self):
        return len(self.tokens)

    def visible(self) -> np.ndarray:
        """Return the attention mask, bool of shape (n, n): True where the column's token is an ancestor or the same."""
        mask = np.zeros((len(self), len(self)), dtype=bool)
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                mask[node] = mask[parent]
            mask[node, node] = True
        return mask


def common_prefix(first: np.ndarray, second: np.ndarray) -> int:
    """Return how many tokens two sequences share at their beginning."""
    n = min(len(first), len(second))
    different = np.flatnonzero(first[:n] != second[:n])
    return int(different[0]) if len(different) else n


def largest_pack(length: int, size: int, limit: int | None = None) -> int:
    """Return how many tokens a pack may have whose first sequence has ``length``.

    A sequence that leaves little of a pack is given another pack's tokens for what branches off it: otherwise long
    texts that differ at their ends would each be computed from their beginnings.

    Args:
        limit: Tokens that no pack may exceed, unless a single sequence does.
    """
    allowed = size if length <= 0.75 * size else length + size
    return max(length, min(allowed, limit or allowed))


def pack(sequences: Sequence[np.ndarray], size: int, limit: int | None = None) -> list[Pack]:
    """Pack sequences into as few tokens as ``size`` allows.

    The sequences are sorted, so that those with a common beginning are neighbours, and cut into packs of at most
    ``size`` tokens, or more where texts are long. What neighbours share across a cut is computed twice; a cut is
    therefore made where they share least within the second half of a full pack.

    Args:
        sequences: Token ids, each of shape (length,), of int; none is empty.
        size: Tokens of a pack; more where texts are long (:func:`largest_pack`).
        limit: As for :func:`largest_pack`.

    Returns:
        Every index of ``sequences`` is a key of exactly one pack's ``paths``. The packs do not depend on the order of
        ``sequences``, except that equal sequences keep theirs.
    """
    order = sorted(range(len(sequences)), key=lambda i: sequences[i].tolist())
    ordered = [sequences[i] for i in order]
    shared = [0] + [common_prefix(a, b) for a, b in pairwise(ordered)]
    packs, start = [], 0
    while start < len(order):
        sizes = [len(ordered[start])]
        largest = largest_pack(sizes[0], size, limit)
        stop = start + 1
        while stop < len(order):
            grown = sizes[-1] + len(ordered[stop]) - shared[stop]
            if grown > largest:
                break
            sizes.append(grown)
            stop += 1
        if stop < len(order):
            cuts = [cut for cut in range(start + 1, stop + 1) if sizes[cut - start - 1] >= largest / 2] or [stop]
            stop = min(cuts, key=lambda cut: (shared[cut], -cut))
        packs.append(_tree(ordered[start:stop], order[start:stop], shared[start:stop]))
        start = stop
    return packs


def _tree(sequences: Sequence[np.ndarray], names: Sequence[int], shared: Sequence[int]):
    tokens, depths, parents, paths = [], [], [], {}
    path = np.zeros(0, dtype=np.int64)
    for position, (sequence, name) in enumerate(zip(sequences, names, strict=True)):
        kept = shared[position] if position else 0
        new = np.arange(len(tokens), len(tokens) + len(sequence) - kept)
        path = np.concatenate([path[:kept], new])
        tokens.extend(sequence[kept:].tolist())
        depths.extend(range(kept, len(sequence)))
        parents.extend(path[kept - 1 : -1].tolist() if kept else [-1, *path[:-1].tolist()])
        paths[name] = path
    return Pack(np.array(tokens), np.array(depths), np.array(parents), paths)
