"""The tables of the Underspecification wing: tidy rows to cells, and cells to LaTeX."""

import pandas as pd

from scripts.core import files
from scripts.core.paper import latex
from scripts.underspecification.lib import figures, study
from scripts.underspecification.lib.analyses import agreement, detection
from scripts.underspecification.lib.analyses.correlation import MEAN

MISSING = "–"
SET_LABELS = {"winogender": "Winogender", "simplified": "Simplified"}
VARIANTS = {("female", 1): "a", (detection.OF_BOTH, 2): "b"}
"""Of Table 2, by gender and dates at an end, lettered as in the caption: as described, and as its numbers were made."""


def number(value, decimals, signed=False):
    """Return a number with ``decimals``, with a true minus, without the sign of a zero; a dash if it is missing."""
    if value is None or pd.isna(value):
        return MISSING
    text = f"{value:{'+' if signed else ''}.{decimals}f}"
    return (text[1:] if float(text) == 0 and text[0] in "+-" else text).replace("-", "−")


def set_label(evaluation_set, templates):
    """Return how a table calls an evaluation set."""
    return SET_LABELS[evaluation_set] + (" (replica)" if templates == "replica" else "")


def slopes(table):
    """Return the cells of Method 1: a row for each model and prompt, slopes and r for dates and places."""
    own = table[table.accumulation == "top"].set_index(["model", "prompt", "variable", "gender", "metric"]).value
    prompts = table.groupby("model", sort=False).prompt.unique()
    rows = []
    for model in study.order(table.model):
        for prompt in [p for p in ("mask", "A", "B", "C", MEAN) if p in prompts[model]]:
            row = {"Model": model, "Prompt": "mean" if prompt == MEAN else prompt}
            for variable in ("date", "place"):
                for gender in ("female", "male", "neutral"):
                    for metric, sign in (("slope", True), ("r", True)):
                        value = own.get((model, prompt, variable, gender, metric))
                        row[f"{variable}s, {gender}: {metric}"] = number(value, 2, sign)
            rows.append(row)
    return pd.DataFrame(rows)


def rates(table, orders, printed):
    """Return the cells of Table 3: each model on each set.

    Parameters
    ----------
    table, orders : DataFrame
        From :mod:`scripts.underspecification.lib.analyses.detection` and
        :mod:`scripts.underspecification.lib.analyses.overwriting`.
    printed : DataFrame
        The published numbers.

    Returns
    -------
    DataFrame of str
        The printed rates, ours from the female files, and beyond the study the area under the curve and the balanced
        accuracy with the threshold from cross-validation, with that threshold. Printed rates are left out if no model
        has one.
    """
    own = table[
        (table.dates == 1)
        & (table.gender == "female")
        & (table.accumulation == "top")
        & table.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    known = agreement.printed_rates(printed).set_index(["evaluation_set", "model", "rate"]).printed
    released = set(orders[orders.release != study.RUN].model)
    rows = []
    for key in figures_sets(own):
        part = own[(own.evaluation_set == key[0]) & (own.templates == key[1])]
        for model in study.order(part.model):
            cells = part[part.model == model].set_index(["choice", "metric"])
            other = study.PRINTED_AS.get(model) if model in released else None
            row = {"Set": set_label(*key), "Model": f"{model} (printed: {other})" if other else model}
            for short, rate in agreement.RATES.items():
                value = known.get((key[0], model, rate), MISSING) if model in released else MISSING
                row[f"printed: {short}"] = value
            for short, rate in agreement.RATES.items():
                row[f"here: {short}"] = number(cells.value["fixed", rate], 3)
            low, high = cells.loc[("fixed", "balanced accuracy"), ["ci_low", "ci_high"]]
            row["here: interval"] = f"{number(low, 2)}–{number(high, 2)}"
            row["here: AUC"] = number(cells.value["none", "AUC"], 3)
            chosen = ("cross-validated", "balanced accuracy")
            if chosen in cells.index:
                row["cross-validated: BA"] = number(cells.value[chosen], 3)
                row["cross-validated: threshold"] = number(cells.threshold[chosen], 2)
            rows.append(row)
    found = pd.DataFrame(rows).fillna(MISSING)
    # Without released outputs nothing is printed to stand beside.
    return found.drop(columns=[c for c in found if c.startswith("printed: ") and (found[c] == MISSING).all()])


def figures_sets(frame):
    """Return the evaluation sets with their template sets that a frame has, in order."""
    found = set(frame[["evaluation_set", "templates"]].itertuples(index=False, name=None))
    return [(s, t) for s in SET_LABELS for t in ("replica", "official") if (s, t) in found]


def example(metric, printed, occupation="doctor"):
    """Return the cells of Table 2: the metric of the eight sentences about one occupation, in both variants.

    Printed numbers stand in parentheses behind ours where the study has them.
    """
    own = metric[
        (metric.evaluation_set == "winogender")
        & (metric.accumulation == "top")
        & metric.prompt.isin(["mask", study.DETECTION_PROMPT])
    ]
    names = sorted(own.occupation.unique())
    occupation = occupation if occupation in names else names[0]
    own = own[(own.occupation == occupation) & (own.templates == own.templates.iloc[0])]
    known = agreement.printed_metrics(printed).set_index(["model", "item"]).printed
    models = [m for m in study.order(own.model) if m in set(known.index.get_level_values(0))] or study.order(own.model)
    values = own.set_index(["model", "item", "gender", "dates"]).metric
    rows = []
    for (gender, dates), label in VARIANTS.items():
        if not ((own.gender == gender) & (own.dates == dates)).any():
            continue
        order = [(c, p) for c in (0, 1) for p in ("man", "woman", "someone", "other")]
        for place, (code, participant) in enumerate(order, 1):
            item = f"{occupation}_{participant}_{code}"
            row = {
                "Occupation": occupation,
                "Var.": label,
                "ID": str(place),
                "Participant": participant,
                "Pronoun": ("professional", "participant")[code],
                "WS": "yes" if code and participant in ("man", "woman") else "no",
            }
            for model in models:
                cell = number(values.get((model, item, gender, dates)), 1)
                if (own.release != study.RUN).any() and (model, item) in known.index:
                    cell += f" ({known[model, item]})"
                row[_head(model)] = cell
            rows.append(row)
    return pd.DataFrame(rows)


def _head(model):
    """Return a head that stands under one of the model's family, where the study has several of it."""
    facts = study.MODELS.get(model)
    if facts is None:
        return model
    family, variant = (facts.group, facts.size) if facts.size else model.rpartition(" ")[::2]
    return f"{family}: {variant}" if family else model


def independence(table):
    """Return the cells of r between level and change over occupations: a row for each set and model."""
    own = table[(table.accumulation == "top") & table.prompt.isin(["mask", study.DETECTION_PROMPT])]
    rows = []
    for key in figures_sets(own):
        part = own[(own.evaluation_set == key[0]) & (own.templates == key[1])]
        for model in study.order(part.model):
            cells = part[part.model == model].set_index("level")
            row = {"Set": set_label(*key), "Model": model}
            for level in detection.LEVELS:
                low, high = cells.loc[level, ["ci_low", "ci_high"]]
                row[f"{level} level: r"] = number(cells.r[level], 2, True)
                row[f"{level} level: interval"] = (
                    MISSING if pd.isna(low) else f"{number(low, 2, True)} to {number(high, 2, True)}"
                )
            rows.append(row)
    return pd.DataFrame(rows)


def masses(curves):
    """Return the mean mass of each gender over MGC, of the most probable tokens and of the whole vocabulary."""
    labels = {"top": "top tokens", "full": "vocabulary"}
    means = curves.groupby(["model", "prompt", "variable", "accumulation", "gender"]).probability.mean()
    rows = []
    for model, prompt in figures.panels(curves):
        for accumulation, label in labels.items():
            row = {"Model": model, "Prompt": prompt, "Mass of": label}
            for variable in ("date", "place"):
                for gender in figures.genders(curves):
                    value = means.get((model, prompt, variable, accumulation, gender))
                    row[f"{variable}s: {gender}"] = number(value, 3)
            if any(cell != MISSING for cell in list(row.values())[3:]):
                rows.append(row)
    return pd.DataFrame(rows)


def write(tex, csv, frame, left, hidden=()):
    """Write a table as LaTeX and CSV.

    Parameters
    ----------
    tex, csv : str
        Paths.
    frame : DataFrame
        Cells.
    left : int
        The first printed columns, which are text. A repeated first cell is printed once, with a rule before the next.
    hidden : sequence of str
        Columns of the CSV that are not printed.
    """
    files.write_csv(csv, frame)
    shown = frame.drop(columns=list(hidden))
    first = shown.columns[0]
    new = (shown[first] != shown[first].shift()).to_numpy()
    # A rule between blocks; none where every second row would have one.
    midrules = [i for i in range(1, len(shown)) if new[i]] if new.sum() <= 5 else ()
    shown[first] = latex.named_once(shown[first])
    files.write_text(tex, latex.latex_table(shown, align="l" * left + "r" * (shown.shape[1] - left), midrules=midrules))
