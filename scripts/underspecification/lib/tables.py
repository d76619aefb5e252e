"""The tables of Underspecification: tidy rows to cells, and cells to LaTeX."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.paper.formats import MISSING_MARK, interval, number
from scripts.core.paper.tables import blank_repeats, change_points, drop_uninformative, write_table
from scripts.underspecification.lib import figures, study
from scripts.underspecification.lib.analyses import detection
from scripts.underspecification.lib.analyses.correlation import MEAN

SET_LABELS = {"winogender": "Winogender", "simplified": "Simplified"}
VARIANTS = {("female", 1): "a", (detection.OF_BOTH, 2): "b"}
"""Of Table 2, by gender and dates at an end, lettered as in the caption: as described, and as its numbers were made."""


PRINTED_SETS = {label: name for name, label in SET_LABELS.items()}
RATES = {"TPR": "TPR", "TNR": "TNR", "BA": "balanced accuracy"}


def printed_rates(printed: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3: ``evaluation_set``, ``model`` (as files name it), ``rate``, ``printed`` (text)."""
    names = {shown: model for model, shown in study.PRINTED_AS.items()}
    rows = []
    for row in files.rows(printed[printed.source == "Table 3"]):
        evaluation_set, model = row.row.split(" | ")
        rows.append((PRINTED_SETS[evaluation_set], names.get(model, model), RATES[row.column], row.value))
    return pd.DataFrame(rows, columns=["evaluation_set", "model", "rate", "printed"])


def printed_metrics(printed: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2: ``model``, ``item`` (of the sentences about a doctor), ``printed`` (text)."""
    rows = []
    for row in files.rows(printed[printed.source == "Table 2"]):
        _, coreferent, participant, _ = row.row.split(" | ")
        participant = "other" if participant == "patient" else participant
        code = ("professional", "participant").index(coreferent)
        rows.append((row.column, f"doctor_{participant}_{code}", row.value))
    return pd.DataFrame(rows, columns=["model", "item", "printed"])


def set_label(evaluation_set: str, templates: str) -> str:
    """Return how a table calls an evaluation set."""
    return SET_LABELS[evaluation_set] + (" (replica)" if templates == "replica" else "")


def slopes(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Method 1: a row for each model and prompt, slopes and r for dates and places."""
    top = table[table.accumulation == "top"].set_index(["model", "prompt", "variable", "gender", "metric"]).value
    prompts = table.groupby("model", sort=False).prompt.unique()
    rows = []
    for model in study.order(table.model):
        for prompt in [p for p in ("mask", "A", "B", "C", MEAN) if p in prompts[model]]:
            row = {"Model": model, "Prompt": "mean" if prompt == MEAN else prompt}
            for variable in ("date", "place"):
                for gender in ("female", "male", "neutral"):
                    for metric in ("slope", "r"):
                        value = top.get((model, prompt, variable, gender, metric))
                        row[f"{variable}s, {gender}: {metric}"] = number(value, 2, signed=True)
            rows.append(row)
    return pd.DataFrame(rows)


def rates(table: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of Table 3: each model on each set.

    Args:
        table: From :mod:`scripts.underspecification.lib.analyses.detection`.
        printed: The published numbers.

    Returns:
        The printed rates, ours from the female files, and beyond the study the area under the curve and the balanced
        accuracy with the threshold from cross-validation, with that threshold. Printed rates are left out if no model
        has one. All cells are text.
    """
    detected = _of_study(table[(table.dates == 1) & (table.gender == "female")])
    known = printed_rates(printed).set_index(["evaluation_set", "model", "rate"]).printed
    released = set(detected[detected.release != study.RUN].model)
    rows = []
    for key, part in _by_set(detected):
        for model in study.order(part.model):
            cells: Any = part[part.model == model].set_index(["choice", "metric"])
            other = study.PRINTED_AS.get(model) if model in released else None
            row = {"Set": set_label(*key), "Model": f"{model} (printed: {other})" if other else model}
            for short, rate in RATES.items():
                value = known.get((key[0], model, rate), MISSING_MARK) if model in released else MISSING_MARK
                row[f"printed: {short}"] = value
            for short, rate in RATES.items():
                row[f"here: {short}"] = number(cells.value["fixed", rate], 3)
            low, high = cells.loc[("fixed", "balanced accuracy"), ["ci_low", "ci_high"]]
            row["here: interval"] = interval(low, high, 2, between="–")
            row["here: AUC"] = number(cells.value["none", "AUC"], 3)
            chosen = ("cross-validated", "balanced accuracy")
            if chosen in cells.index:
                row["cross-validated: BA"] = number(cells.value[chosen], 3)
                row["cross-validated: threshold"] = number(cells.threshold[chosen], 2)
            rows.append(row)
    frame = pd.DataFrame(rows).fillna(MISSING_MARK)
    # Without released outputs nothing is printed to stand beside.
    return frame.drop(columns=[c for c in frame if str(c).startswith("printed: ") and (frame[c] == MISSING_MARK).all()])


def _of_study(table: pd.DataFrame):
    """Return the rows of Method 2 as the study has them: of the most probable tokens, at masks or with its prompt."""
    return table[(table.accumulation == "top") & table.prompt.isin(["mask", study.DETECTION_PROMPT])]


def _by_set(table: pd.DataFrame):
    """Yield each evaluation set with its template set that a table has, in order, and its rows."""
    for evaluation_set in SET_LABELS:
        for templates in ("replica", "official"):
            rows = table[(table.evaluation_set == evaluation_set) & (table.templates == templates)]
            if not rows.empty:
                yield (evaluation_set, templates), rows


def example(metric: pd.DataFrame, printed: pd.DataFrame, occupation: str = "doctor") -> pd.DataFrame:
    """Return the cells of Table 2: the metric of the eight sentences about one occupation, in both variants.

    Printed numbers stand in parentheses behind ours where the study has them.
    """
    sentences = _of_study(metric[metric.evaluation_set == "winogender"])
    names = sorted(sentences.occupation.unique())
    occupation = occupation if occupation in names else names[0]
    sentences = sentences[(sentences.occupation == occupation) & (sentences.templates == sentences.templates.iloc[0])]
    known = printed_metrics(printed).set_index(["model", "item"]).printed
    models = study.order(sentences.model)
    models = [model for model in models if model in known.index.unique("model")] or models
    values = sentences.set_index(["model", "item", "gender", "dates"]).metric
    rows = []
    for (gender, dates), label in VARIANTS.items():
        if not ((sentences.gender == gender) & (sentences.dates == dates)).any():
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
                if (sentences.release != study.RUN).any() and (model, item) in known.index:
                    cell += f" ({known[model, item]})"
                row[_head(model)] = cell
            rows.append(row)
    return pd.DataFrame(rows)


def _head(model: str):
    """Return a head that stands under one of the model's family, where the study has several of it."""
    facts = study.MODELS.get(model)
    if facts is None:
        return model
    family, variant = (facts.group, facts.size) if facts.size else model.rpartition(" ")[::2]
    return f"{family}: {variant}" if family else model


def independence(table: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of r between level and change over occupations: a row for each set and model."""
    rows = []
    for key, part in _by_set(_of_study(table)):
        for model in study.order(part.model):
            cells: Any = part[part.model == model].set_index("level")
            row = {"Set": set_label(*key), "Model": model}
            for level in detection.LEVELS:
                row[f"{level} level: r"] = number(cells.r[level], 2, signed=True)
                low, high = cells.loc[level, ["ci_low", "ci_high"]]
                row[f"{level} level: interval"] = interval(low, high, 2, signed=True)
            rows.append(row)
    return pd.DataFrame(rows)


def group_probabilities(curves: pd.DataFrame) -> pd.DataFrame:
    """Return the mean mass of each gender over MGC: most probable tokens, whole vocabulary, at written words alone."""
    labels = {"top": "top tokens", "full": "vocabulary", "written": "top tokens at written words"}
    means = curves.groupby(["model", "prompt", "variable", "accumulation", "gender"]).probability.mean()
    rows = []
    for model, prompt in figures.panels(curves):
        for accumulation, label in labels.items():
            row = {"Model": model, "Prompt": prompt, "Mass of": label}
            for variable in ("date", "place"):
                for gender in figures.genders(curves):
                    value = means.get((model, prompt, variable, accumulation, gender))
                    row[f"{variable}s: {gender}"] = number(value, 3)
            if any(cell != MISSING_MARK for cell in list(row.values())[3:]):
                rows.append(row)
    return pd.DataFrame(rows)


def over_prompts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of :func:`slopes` without single prompts of a model that has their mean."""
    several = set(frame[frame.Prompt == "mean"].Model)
    return frame[(frame.Prompt == "mean") | ~frame.Model.isin(several)]


def write(
    tex: str, csv: str, frame: pd.DataFrame, left: int, hidden: Sequence[str] = (), rows: pd.DataFrame | None = None
) -> None:
    """Write a table as LaTeX and CSV; what tells nothing is not printed.

    Args:
        tex, csv: Paths.
        frame: Cells.
        left: The first printed columns, which are text. A repeated first cell is printed once, with a rule before the
            next.
        hidden: Columns of the CSV that are not printed.
        rows: The rows of ``frame`` that are printed; otherwise all.
    """
    shown = (frame if rows is None else rows).drop(columns=list(hidden))
    names = list(shown.columns[:left])
    shown, constant = drop_uninformative(shown, names)
    blocks = change_points(shown.iloc[:, 0])
    shown = shown.assign(**{shown.columns[0]: blank_repeats(shown.iloc[:, 0])})
    # A rule between blocks; none where every second row would have one.
    midrules = blocks if len(blocks) < 5 else ()
    write_table(tex, csv, shown, left, rows=frame, midrules=midrules, constant=constant)
