"""The tables of the RUFF wing, as text cells ready to be typeset.

Each function returns a DataFrame of strings whose column names are the heads; numbers keep their full precision in
the CSV files that the table scripts write beside it.
"""

import pandas as pd

MISSING = "–"


def instance_counts(context_free, full, samples, selected):
    """Count instances (paper Table 1).

    Parameters
    ----------
    context_free : int
        Task sentences without context.
    full : dict
        Number of distractors to the size of the full set.
    samples : dict
        Number of distractors to the sizes of its samples, one for each seed.
    selected : DataFrame
        The selected instances: ``n_distractors`` (missing without context).

    Returns
    -------
    DataFrame
        ``setting``, ``n_distractors``, ``instances``, ``samples``, ``sample_size``, ``scored``
        (over all samples).
    """
    scored = selected.n_distractors.value_counts()
    rows = [("no context", None, context_free, None, None, int(selected.n_distractors.isna().sum()))]
    for n, size in sorted(full.items()):
        sizes = set(samples[n])
        if len(sizes) != 1:
            raise ValueError(f"samples with {n} distractors differ in size: {sorted(sizes)}")
        rows.append((f"+ {n} distractor{'' if n == 1 else 's'}", n, size, len(samples[n]), sizes.pop(), int(scored[n])))
    columns = ["setting", "n_distractors", "instances", "samples", "sample_size", "scored"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype(dict.fromkeys(("n_distractors", "samples", "sample_size"), "Int64"))


def instance_counts_cells(table):
    """Return the cells of Table 1 from :func:`instance_counts`."""
    samples = [
        MISSING if pd.isna(row.samples) else f"{row.samples} × {row.sample_size:,}"
        for row in table.itertuples(index=False)
    ]
    return pd.DataFrame(
        {
            "Setting": table.setting,
            "Instances": [f"{n:,}" for n in table.instances],
            "Samples": samples,
            "Scored here": [f"{n:,}" for n in table.scored],
        }
    )


def models_cells(models):
    """Return the cells of Table 2: families with their sizes, in registry order.

    Parameters
    ----------
    models : dict
        Model name to ``family``, ``size``, ``architecture``, ``parameters``, ``demonstration``.
    """
    rows = {}
    for facts in models.values():
        key = (facts["family"], facts["architecture"], facts["demonstration"])
        rows.setdefault(key, []).append(f"{facts['size']} ({parameters(facts['parameters'])})")
    return pd.DataFrame(
        [
            (family + (" (demonstration)" if demonstration else ""), ", ".join(sizes), architecture)
            for (family, architecture, demonstration), sizes in rows.items()
        ],
        columns=["Model", "Sizes (parameters)", "Architecture"],
    )


def parameters(count):
    """Return a number of parameters as it is usually printed: 11M, 1.3B."""
    for unit, size in (("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= size:
            value = count / size
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.3g}{unit}"
    return str(count)


def accuracy_cells(accuracy, models):
    """Return accuracies with their SD over samples: a row for each model, a column for each number of distractors."""
    overall = accuracy[accuracy.factor == "all"]
    rows = []
    for name, facts in models.items():
        own = overall[overall.model == name].set_index("n_distractors")
        rows.append([facts["label"], *(_with_sd(own.loc[n]) for n in sorted(own.index))])
    return pd.DataFrame(rows, columns=["Model", *(str(n) for n in sorted(overall.n_distractors.unique()))])


def _with_sd(row):
    return f"{row.accuracy:.2f}" if pd.isna(row.sd) else f"{row.accuracy:.2f} ± {row.sd:.2f}"


def pronoun_tests_cells(tests, models, pronoun_sets, most=4):
    """Return Welch's tests: over all models, and for each model where there are at most ``most`` of them."""
    labels = {entry["set"]: entry["label"] for entry in pronoun_sets}
    shown = ["all", *(models if len(models) <= most else [])]
    rows = []
    for row in tests[tests.model.isin(shown)].itertuples(index=False):
        undefined = pd.isna(row.p)
        rows.append(
            (
                "all models" if row.model == "all" else models[row.model]["label"],
                f"{labels[row.pronoun_a]} – {labels[row.pronoun_b]}",
                f"{row.difference:+.2f}".replace("-", "−"),
                MISSING if undefined else f"{row.t:.2f}".replace("-", "−"),
                MISSING if undefined else f"{row.df:.1f}",
                MISSING if undefined else _p(row.p),
                MISSING if undefined else _p(row.p_holm) + ("*" if row.significant_holm else ""),
            )
        )
    return pd.DataFrame(rows, columns=["Model", "Pronoun sets", "Difference", "t", "df", "p", "p (Holm)"])


def _p(value):
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def error_types_cells(types, models):
    """Return the shares of distraction and bias among unambiguous errors: a row for each model."""
    counts = sorted(types.n_distractors.unique())
    rows = []
    for name, facts in models.items():
        own = types[types.model == name].set_index(["error_type", "n_distractors"])
        cells = [
            MISSING if pd.isna(own.loc[(kind, n), "share"]) else f"{own.loc[(kind, n), 'share']:.2f}"
            for kind in ("distraction", "bias")
            for n in counts
        ]
        rows.append([facts["label"], *cells])
    heads = [f"{letter}{n}" for letter in "DB" for n in counts]
    return pd.DataFrame(rows, columns=["Model", *heads])
