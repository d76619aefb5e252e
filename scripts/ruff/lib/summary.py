"""RUFF's rows of the summary over all studies: accuracies by number of distractors and by pronoun set."""

from scripts.core.paper.summary import DEMONSTRATION, RUN


def rows(accuracy, prompted, models, data, most):
    """Return rows as :func:`scripts.core.paper.summary.write` takes them.

    The headline is the accuracy without distractors and with the most.

    Parameters
    ----------
    accuracy : DataFrame
        ``model``, ``n_distractors``, ``factor`` (``all``, ``pronoun``, ...), ``level``, ``n``, ``accuracy``,
        ``ci_low``, ``ci_high``.
    prompted : DataFrame or None
        ``model``, ``method``, ``answer``, ``n_distractors``, ``kind``, ``n``, ``accuracy`` of prompted models.
    models : dict
        Name to facts (``label``, ``demonstration``) of all of them.
    data : str
        The template set.
    most : int
        The largest number of distractors.
    """
    order = list(models)
    parts = accuracy[accuracy.factor.isin(["all", "pronoun"])].assign(part=lambda rows: rows.factor != "all")
    found = [
        _row(models, row, data)
        | {
            "metric": f"accuracy, {_distractors(row.n_distractors)}",
            "group": row.level,
            "ci_low": row.ci_low,
            "ci_high": row.ci_high,
            "headline": row.factor == "all" and row.n_distractors in (0, most),
        }
        for row in _sorted(parts, order, ["part", "n_distractors", "model", "level"])
    ]
    if prompted is not None:
        # Means over prompts, which have no interval over instances.
        plain = prompted[(prompted.method == "vanilla") & (prompted.answer == "final") & (prompted.kind == "all")]
        found += [
            _row(models, row, data)
            | {
                "metric": f"accuracy if prompted, {_distractors(row.n_distractors)}",
                "group": "all",
                "headline": False,
            }
            for row in _sorted(plain, order, ["n_distractors", "model"])
        ]
    return found


def _sorted(rows, models, columns):
    """Return rows in the order of ``columns``, models in that of ``models``."""
    return rows.sort_values(
        columns, key=lambda column: column.map(models.index) if column.name == "model" else column
    ).itertuples()


def _row(models, row, data):
    facts = models[row.model]
    return {
        "data": data,
        "model": facts["label"],
        "value": row.accuracy,
        "n": row.n,
        "status": DEMONSTRATION if facts["demonstration"] else RUN,
    }


def _distractors(number):
    return "no distractors" if number == 0 else f"{number} distractor{'s' if number > 1 else ''}"
