"""The rows of one set of quadruples that may stand beside the study: one scoring, and systems by their names."""

from scripts.counter_gap.lib import tables

SCORINGS = ("released", "clusters")
"""The study's own flags first; without them clusters whose spans were matched rightly."""


def read(metrics, significance, templates):
    """Return :func:`scripts.counter_gap.lib.tables.read` with each system once.

    Where a system has released flags its clusters are left out, and what :data:`SCORINGS` does not name always is.
    """
    table = tables.read(metrics, significance, templates)
    rank = table.scoring.map({name: rank for rank, name in enumerate(SCORINGS)})
    keys = [table.data, table.system, table.debiasing]
    return table[rank.notna() & (rank == rank.groupby(keys).transform("min"))].reset_index(drop=True)


def named(table, models):
    """Return the table with ``model``, a system's name among the study's models, else its own, and ``place``.

    ``place`` is ``quadruples`` or the part of GAP.

    Parameters
    ----------
    table : DataFrame
    models : DataFrame
        Of :func:`scripts.core.paper.published.read_models`.
    """
    names = dict(zip(models.label, models.model, strict=True))
    place = table.data.where(table.data.str.startswith("gap_"), "quadruples")
    return table.assign(model=table.system.map(names).fillna(table.system), place=place)
