"""Which quadruples each breakdown looks at, from the data alone: no output of a system decides it."""

import numpy as np

from scripts.core.coreference import tokenise

SPLITTING = ".,`\"'()-/*"
"""Marks at which the released conversion starts a new token. A pronoun directly before one gets a span that ends with
the mark (see ``predictions``), which no system predicts; the released flags of these quadruples are all FALSE."""
DISTANCES = ("near", "middle", "far")


def factors_of(instances):
    """Return each quadruple's factors.

    Parameters
    ----------
    instances : DataFrame
        As of :mod:`scripts.counter_gap.lib.instances`; four rows for each quadruple, in order.

    Returns
    -------
    DataFrame
        A row for each quadruple, in order: ``quadruple``, ``gender`` (of the original), ``source`` (``gutenberg`` or
        ``bookcorpus`` by the form of the book's name, ``own`` otherwise), ``case``, ``artefact`` (a splitting mark
        directly follows the pronoun in all four), ``glued`` (another mark or letter does), ``right_name`` (one of the
        names is right), ``words`` (tokens between the right name and the pronoun, mean over the four; missing without
        one) and ``distance`` (thirds of ``words``).
    """
    follows = [t[o + len(p) : o + len(p) + 1] for t, o, p in _columns(instances, "text", "pronoun_offset", "pronoun")]
    splitting = np.array([bool(mark) and mark in SPLITTING for mark in follows]).reshape(-1, 4).all(1)
    glued = np.array([bool(mark.strip()) for mark in follows]).reshape(-1, 4).all(1) & ~splitting
    words = np.array([_words(row) for row in instances.itertuples(index=False)]).reshape(-1, 4).mean(1)
    frame = instances.iloc[::4][["quadruple", "gender", "case", "book"]].reset_index(drop=True)
    frame["source"] = [_source(book) for book in frame.pop("book")]
    frame["artefact"], frame["glued"] = splitting, glued
    frame["right_name"] = np.isfinite(words)
    frame["words"] = words
    edges = np.nanquantile(words, [1 / 3, 2 / 3]) if frame.right_name.any() else [0, 0]
    frame["distance"] = np.where(
        frame.right_name, np.array(DISTANCES)[np.searchsorted(edges, np.nan_to_num(words))], "no right name"
    )
    return frame


def _columns(frame, *names):
    return zip(*(frame[name] for name in names), strict=True)


def _source(book):
    if book.endswith(".epub"):
        return "bookcorpus"
    return "gutenberg" if book.removeprefix("pg")[:1].isdecimal() else "own"


def _words(row):
    """Return the number of tokens between the right name and the pronoun; NaN without a right name."""
    if not (row.a_coref or row.b_coref):
        return np.nan
    name, offset = (row.a, row.a_offset) if row.a_coref else (row.b, row.b_offset)
    (start, word), (later, _) = sorted([(offset, name), (row.pronoun_offset, row.pronoun)])
    return float(sum(start + len(word) <= s and e <= later for s, e in tokenise(row.text)))


def masks(factors):
    """Return the subsets of the analysis by name, as masks over the quadruples.

    ``all``, sources, cases and distances; each also ``without artefact``. Subsets with no member, and sources if
    there is only one, are left out; so are all ``without artefact`` if no quadruple has it.
    """
    chosen = {"all": np.ones(len(factors), dtype=bool)}
    for factor, levels in (
        ("source", ("gutenberg", "bookcorpus")),
        ("case", ("nominative", "accusative", "possessive")),
        ("distance", DISTANCES),
    ):
        for level in levels:
            mask = (factors[factor] == level).to_numpy()
            if mask.any() and not mask.all():
                chosen[level] = mask
    artefact = factors.artefact.to_numpy()
    if artefact.any():
        chosen |= {
            f"{name} without artefact": mask & ~artefact for name, mask in chosen.items() if (mask & ~artefact).any()
        }
    marked = artefact | factors.glued.to_numpy()
    if factors.glued.any():
        chosen["all without any mark"] = ~marked
    return chosen
