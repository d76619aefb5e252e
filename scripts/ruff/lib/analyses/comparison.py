"""The two template sets side by side."""


def compare_templates(replica, official):
    """Set the accuracies on the replica templates beside those on the official ones.

    Parameters
    ----------
    replica, official : DataFrame
        As returned by :func:`accuracy`.

    Returns
    -------
    DataFrame
        ``model``, ``n_distractors``, and for each set its ``accuracy_``, ``ci_low_`` and ``ci_high_``;
        ``difference`` is replica minus official.
    """
    keys = ["model", "n_distractors"]
    values = ["accuracy", "ci_low", "ci_high"]
    sides = [
        side[side.factor == "all"].set_index(keys)[values].add_suffix(f"_{name}")
        for name, side in (("replica", replica), ("official", official))
    ]
    table = sides[0].join(sides[1], how="inner").reset_index()
    table["difference"] = table.accuracy_replica - table.accuracy_official
    order = [*keys, *(f"{v}_{s}" for s in ("replica", "official") for v in values), "difference"]
    return table[order]
