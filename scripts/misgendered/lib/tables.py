"""The tables of the MISGENDERED wing: tidy rows to cells."""

import pandas as pd

from scripts.core import normalisation as core_normalisation
from scripts.core import templates as core_templates
from scripts.core.paper.formats import MISSING, interval, number, percent, with_sd
from scripts.core.paper.tables import changes, named_once
from scripts.misgendered.lib import figures, study
from scripts.misgendered.lib.analyses.normalisation import KEPT
from scripts.misgendered.lib.labels import ALL, FORMS, NAME_CLASSES, SHORT, TYPES, effect, present

NAMES_SHOWN = 10
"""Names at either end of the ranking (Table 9)."""
FEWEST = 10
"""A name with fewer instances is not ranked in print: one instance would move it by over ten percentage points."""
PRONOUNS = {ALL: "all"} | TYPES
"""Levels of the tables on pairs of models and on samples."""
TEMPLATE_WIDTHS = [0.1, 0.86]
"""Columns of Table 14, in parts of the width of the text."""
EXCERPT_WIDTHS = [0.1, 0.22, 0.58]
"""Columns of Table 12."""
SUBSETS = {"all groups": "all groups", "neo-pronouns": "neo, by form"}


def with_interval(row, column="accuracy"):
    """Return an accuracy in percent with its interval behind it in parentheses."""
    ends = interval(100 * row.ci_low, 100 * row.ci_high, 1, between="–")
    return percent(getattr(row, column), 1) + ("" if ends == MISSING else f" ({ends})")


def pronouns(groups):
    """Return the cells of Table 1: the forms of each pronoun group.

    Parameters
    ----------
    groups : dict of str to dict
        Group to its forms, from :func:`scripts.misgendered.lib.study.select_groups`.
    """
    order = [g for kind in TYPES for g in groups if groups[g].type == kind]
    rows = [[TYPES[groups[g].type], *(groups[g][form] for form in SHORT)] for g in order]
    frame = pd.DataFrame(rows, columns=["Type", *SHORT.values()])
    return frame.assign(Type=named_once(frame.Type))


def declarations(ways):
    """Return the cells of Table 2: the forms that each combination declares.

    Parameters
    ----------
    ways : dict of int to sequence of str
        Number of a combination to its forms.
    """
    rows = [(len(forms), ", ".join(SHORT[form] for form in forms)) for forms in ways.values()]
    return pd.DataFrame(rows, columns=["Forms", "Declared"])


def models(facts):
    """Return the cells of Table 3: the run's models."""
    rows = [
        (entry["family"], entry["label"], entry["architecture"], f"{entry['parameters'] / 1e6:,.0f}M")
        if entry["parameters"]
        else (entry["family"], entry["label"], entry["architecture"], MISSING)
        for entry in facts.values()
    ]
    return pd.DataFrame(rows, columns=["Family", "Model", "Architecture", "Parameters"])


def by_type(frame, key, labels, models, head):
    """Return accuracies by a factor and the type of pronouns.

    Parameters
    ----------
    frame : DataFrame
        Rows of accuracies (:func:`scripts.misgendered.lib.figures.pooled`).
    key : str or None
        The factor; None for one row.
    labels : dict of str to str
        Its levels.
    models : dict
    head : str
        What the table calls the factor.

    Returns
    -------
    DataFrame of str
        ``Model`` (if several are shown), ``head`` (with a factor), and a column for each type.
    """
    rows = []
    shown, types = figures.panels(models), present(TYPES, frame.pronoun_type)
    for model, title in shown.items():
        of_model = frame[frame.model == model]
        for level, label in (labels if key else {None: None}).items():
            part = of_model if key is None else of_model[of_model[key] == level]
            cells = {row.pronoun_type: with_interval(row) for row in part.itertuples()}
            first = {"Model": title} | ({head: label} if key else {})
            rows.append(first | {label: cells.get(kind, MISSING) for kind, label in types.items()})
    return _one_model(pd.DataFrame(rows), shown)


def _one_model(cells, shown):
    if len(shown) == 1:
        return cells.drop(columns="Model")
    return cells.assign(Model=named_once(cells.Model))


def zero_shot(frame, models):
    """Return the cells of Table 4: accuracy by type of pronouns, a row for each model and the mean over models.

    Parameters
    ----------
    frame : DataFrame
        Rows of accuracies by type alone.
    models : dict
    """
    types = present(TYPES, frame.pronoun_type)
    named = {name: facts["label"] for name, facts in models.items()}
    if len(models) > 1:
        named[ALL] = f"Mean over {len(models)} models"
    rows = []
    for name, label in named.items():
        part = frame[frame.model == name].set_index("pronoun_type")
        size = f"{int(part.n.sum()):,}"
        rows.append([label, *(with_interval(part.loc[kind]) for kind in types), size])
    return pd.DataFrame(rows, columns=["Model", *types.values(), "n"])


def groups(frame, models):
    """Return the cells of Table 7: the accuracy on each pronoun group, the best of each type first."""
    shown = figures.panels(models)
    first = frame[frame.model == next(iter(shown))]
    rows = []
    for kind, label in present(TYPES, first.pronoun_type).items():
        part = first[first.pronoun_type == kind].sort_values(["accuracy", "group"], ascending=[False, True])
        for group in part.group:
            row = {"Type": label, "Group": group}
            for model, title in shown.items():
                cell = frame[(frame.model == model) & (frame.group == group)]
                row[title] = with_interval(cell.iloc[0])
            rows.append(row)
    cells = pd.DataFrame(rows)
    if len(shown) == 1:
        cells.columns = ["Type", "Group", "Accuracy"]
    return cells.assign(Type=named_once(cells.Type))


def name_class(frame, models):
    """Return the cells of Table 10: accuracies on she, he and they, and on neo-pronouns, by the class of names.

    Parameters
    ----------
    frame : DataFrame
        Rows of accuracies by class of names, with a group (of binary and neutral ones) or with a type alone (of
        neo-pronouns).
    """
    shown = figures.panels(models)
    classes = present(NAME_CLASSES, frame.name_class)
    singles = list(dict.fromkeys(frame.group[(frame.group != ALL) & (frame.pronoun_type != "neo")]))
    wanted = [(g, g, None) for g in singles] + [("neo-pronouns", ALL, "neo")]
    rows = []
    for model, title in shown.items():
        for label, group, kind in wanted:
            part = frame[(frame.model == model) & (frame.group == group)]
            part = part if kind is None else part[part.pronoun_type == kind]
            if len(part):
                cells = {row.name_class: with_interval(row) for row in part.itertuples()}
                of_class = {label: cells.get(name, MISSING) for name, label in classes.items()}
                rows.append({"Model": title, "Pronouns": label} | of_class)
    return _one_model(pd.DataFrame(rows), shown)


def ends(names):
    """Return the first and the last :data:`NAMES_SHOWN` ranked names, fewer of either if they would overlap."""
    count = min(NAMES_SHOWN, len(names) // 2)
    return names.head(count), names.tail(count).iloc[::-1]


def names(best, worst):
    """Return the cells of Table 9: the names at either end of the ranking, with intervals."""
    columns = {}
    for head, frame in (("Best", best), ("Worst", worst)):
        columns[f"{head}: name"] = [f"{row.name_}" for row in frame.rename(columns={"name": "name_"}).itertuples()]
        columns[f"{head}: class"] = [NAME_CLASSES[value] for value in frame.name_class]
        columns[f"{head}: accuracy"] = [with_interval(row) for row in frame.itertuples()]
        columns[f"{head}: n"] = [f"{n}" for n in frame.n]
    return pd.DataFrame(columns)


def few_shot(frame, models):
    """Return the cells of Table 13: accuracy by examples in the prompt, with the SD over draws of the examples.

    Parameters
    ----------
    frame : DataFrame
        From :func:`scripts.misgendered.lib.figures.by_examples`.
    models : dict
    """
    seen = [name for name in models if name in set(frame[frame.shots > 0].model)]
    types = [kind for kind in present(TYPES, frame.pronoun_type) if kind != "binary"] or list(TYPES)
    rows = []
    for kind in types:
        for shots in [0, *sorted(set(frame.shots) - {0})]:
            row = {"Type": TYPES[kind], "Examples": f"{shots}"}
            for name in seen:
                cell = frame[(frame.model == name) & (frame.pronoun_type == kind) & (frame.shots == shots)]
                row[models[name]["label"]] = MISSING
                if len(cell):
                    row[models[name]["label"]] = with_sd(100 * cell.accuracy.iloc[0], 100 * cell.sd.iloc[0], 1)
            rows.append(row)
    cells = pd.DataFrame(rows)
    return cells.assign(Type=named_once(cells.Type))


def templates(rows):
    """Return the cells of Table 14: the templates of each form.

    Parameters
    ----------
    rows : sequence of scripts.misgendered.lib.templates.Template
    """
    order = sorted(rows, key=lambda row: list(SHORT).index(row.form))
    frame = pd.DataFrame([(SHORT[row.form], row.text) for row in order], columns=["Form", "Template"])
    return frame.assign(Form=named_once(frame.Form))


def printed_averages(table):
    """Return the cells of what the study's averages are over: a row for each way of averaging."""
    rows = []
    for (of, weights), part in table.groupby(["of", "weights"], sort=False):
        cells = [f"{number(row.computed, 2)} ({number(row.printed, 1)})" for row in part.itertuples()]
        largest = part.difference.abs().max()
        wrong = part[~part.fits].quantity.tolist()
        rows.append(
            (of, weights, "; ".join(cells), number(largest, 2), "yes" if not wrong else f"no: {', '.join(wrong)}")
        )
    return pd.DataFrame(rows, columns=["Averaged over", "Weights", "Computed (printed)", "Largest gap", "Fits"])


def choices(table, models):
    """Return the cells of what the choices change, in points."""
    shown = figures.panels(models)
    types = present(TYPES, table.pronoun_type)
    rows = []
    for choice, part in table.groupby("choice", sort=False):
        for model, title in shown.items():
            of_model = part[part.model == model].set_index("pronoun_type")
            row = {"Model": title, "Choice": choice}
            row |= {label: _difference(of_model.loc[kind]) for kind, label in types.items()}
            rows.append(row | {"Other pick": percent(of_model.loc[ALL].other_pick, 1)})
    return _one_model(pd.DataFrame(rows), shown)


def _difference(row):
    ends = interval(100 * row.ci_low, 100 * row.ci_high, 1, signed=True, between=" to ")
    return percent(row.difference, 1, signed=True) + ("" if ends == MISSING else f" ({ends})")


def reductions(table, models):
    """Return the cells of mean against sum: both accuracies and their difference, a row for each model and type."""
    types = present(TYPES, table.pronoun_type)
    rows = []
    for name, facts in models.items():
        of_model = table[table.model == name].set_index("pronoun_type")
        for kind, label in types.items():
            row = of_model.loc[kind]
            both = (percent(row.accuracy_mean, 1), percent(row.accuracy_sum, 1))
            rows.append((facts["label"], label, *both, _difference(row), percent(row.other_pick, 1)))
    cells = pd.DataFrame(rows, columns=["Model", "Type", "Mean", "Sum", "Difference", "Other pick"])
    return _one_model(cells, models)


def normalisation(table, models):
    """Return the cells of the normalisations: a row for each model, type of pronouns and normalisation."""
    types = {ALL: "All"} | present(TYPES, table.pronoun_type)
    table = table[table.group == ALL]
    rows = []
    for name, facts in models.items():
        for kind, label in types.items():
            for key in KEPT:
                chosen = (table.model == name) & (table.pronoun_type == kind) & (table.normalisation == key)
                row = table[chosen].iloc[0]
                ends = interval(100 * row.difference_low, 100 * row.difference_high, 1, signed=True)
                difference = percent(row.difference, 1, signed=True) + ("" if ends == MISSING else f" ({ends})")
                rows.append(
                    (
                        facts["label"], label, core_normalisation.LABELS[key], percent(row.accuracy, 1),
                        f"{row['rank']:.0f}", difference, *(percent(row[k], 1) for k in ("flipped", "gained", "lost")),
                    )
                )  # fmt: skip
    heads = ["Model", "Type", "Score", "Accuracy", "Rank", "Difference", "Flipped", "Gained", "Lost"]
    cells = pd.DataFrame(rows, columns=heads)
    cells = cells.assign(Type=named_once(cells.Type, changes(cells.Model)))
    return cells.assign(Model=named_once(cells.Model))


def calibration(table, models):
    """Return the cells of calibration errors: a row for each model, type of pronouns and normalisation."""
    types = {ALL: "All"} | present(TYPES, table.pronoun_type)
    table = table[table.group == ALL]
    rows = []
    for name, facts in models.items():
        for kind, label in types.items():
            for key in KEPT:
                chosen = (table.model == name) & (table.pronoun_type == kind) & (table.normalisation == key)
                row = table[chosen].iloc[0]
                ends = interval(100 * row.ci_low, 100 * row.ci_high, 1)
                error = percent(row.ece, 1) + ("" if ends == MISSING else f" ({ends})")
                rows.append(
                    (
                        facts["label"], label, core_normalisation.LABELS[key], percent(row.accuracy, 1),
                        percent(row.confidence, 1), error, percent(row.ece_by_chance, 1),
                    )
                )  # fmt: skip
    cells = pd.DataFrame(rows, columns=["Model", "Type", "Score", "Accuracy", "Confidence", "ECE", "By chance"])
    cells = cells.assign(Type=named_once(cells.Type, changes(cells.Model)))
    return cells.assign(Model=named_once(cells.Model))


def declared_forms(table, models):
    """Return the cells of declared against undeclared forms."""
    shown, types = figures.panels(models), present(TYPES, table.pronoun_type)
    rows = []
    for model, title in shown.items():
        for form, label in (present(FORMS, table.form) | {ALL: "All three"}).items():
            for kind, of_type in types.items():
                row = table[(table.model == model) & (table.form == form) & (table.pronoun_type == kind)].iloc[0]
                cells = (percent(row.declared, 1), percent(row.undeclared, 1), _difference(row))
                rows.append((title, label, of_type, *cells))
    cells = pd.DataFrame(rows, columns=["Model", "Form", "Type", "Declared", "Undeclared", "Difference"])
    return _one_model(cells.assign(Form=named_once(cells.Form)), shown)


def fertility(table, models):
    """Return the cells of the regressions of accuracy on tokens."""
    rows = []
    for row in table.itertuples():
        slope = percent(row.slope, 1, signed=True)
        ends = interval(100 * row.ci_low, 100 * row.ci_high, 1, signed=True)
        rows.append(
            (
                models[row.model]["label"], SUBSETS[row.subset], slope if ends == MISSING else f"{slope} ({ends})",
                number(row.spearman, 2, signed=True), f"{row.forms}",
            )
        )  # fmt: skip
    cells = pd.DataFrame(rows, columns=["Model", "Forms of", "Points a token", "Rank corr.", "n"])
    return _one_model(cells, models)


def mixed_model(table, models):
    """Return the cells of the mixed model: log odds with posterior intervals."""
    rows = []
    for row in table.fillna({"level": ""}).itertuples():
        estimate = number(row.estimate, 2, signed=row.kind == "fixed")
        ends = interval(row.ci_low, row.ci_high, 2, signed=row.kind == "fixed")
        rows.append((effect(row, models), estimate, ends))
    return pd.DataFrame(rows, columns=["Effect", "Log odds", "Interval"])


def known_pronouns(path, names):
    """Return the configured pronoun groups with their forms, read from ``templates/pronouns.tsv``."""
    return study.select_groups(core_templates.read_pronouns(path), names)


def corpus_counts(table, groups):
    """Return the cells of Table 11: documents (of local corpora) or tokens that hold each group's nominative form.

    Parameters
    ----------
    table : DataFrame
        ``label`` of the corpus, ``group``, ``form``, ``quantity``, ``count``; a row for each form.
    groups : sequence of str
        In the order of the table, within their types.
    """
    first = table[table.form == "nom"]
    rows = []
    for kind, label in TYPES.items():
        for group in [g for g in groups if g in set(first.group[first.pronoun_type == kind])]:
            part = first[first.group == group]
            counts = {f"{row.label} ({row.quantity})": f"{row.count_:,}" for row in _counted(part).itertuples()}
            rows.append({"Type": label, "Group": group} | counts)
    cells = pd.DataFrame(rows).fillna(MISSING)
    return cells.assign(Type=named_once(cells.Type))


def _counted(part):
    # A row's attribute ``count`` is a method of tuples.
    return part.rename(columns={"count": "count_"})


def excerpts(table):
    """Return the cells of Table 12: excerpts from the corpora."""
    return table.rename(columns={"word": "Word", "label": "Corpus", "excerpt": "Excerpt"})[
        ["Word", "Corpus", "Excerpt"]
    ]
