"""MISGENDERED in the paper: its section with the numbers of its text, and its rows of the summary."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.data.estimate_rows import MODEL, PROBABILITY
from scripts.core.paper import sections
from scripts.core.paper.formats import MISSING_MARK, format_interval, format_percent
from scripts.core.paper.lookup import Numbers
from scripts.core.paper.numbers import make_count, make_entry, of_settings
from scripts.core.statistics.ratios import POOLED
from scripts.core.workflow.job import run_named
from scripts.misgendered import study
from scripts.misgendered.normalisation import DESIGN
from scripts.misgendered.study import FACTORS, IDENTITY, TYPES, estimates_by

TITLES = {"replica": "replica templates", "official": "official templates"}
"""The sets of templates as the text calls them."""
SETTINGS = {"draws": "misgendered.bootstrap.draws", "few_shot_draws": "misgendered.few_shot.draws"}
"""Settings that the text names, to their keys in config.yaml."""
SOURCE = "estimates.csv"
MANY_INSTANCES = 2000
"""From so many instances on the appendix splits accuracies by declaration, form and class of names."""
LEVEL = 95
"""Coverage of the intervals, in percent."""


def section(
    *, section_templates: list, estimates: str, normalisation: str, choices: str,
    corpus_counts: str, sizes: str, instances: list, figures: list, tables: list, comparison_numbers: list,
    section_files: list, paper_numbers: list, template_sets: list, models: dict, scores: dict, wording: str,
    settings: dict,
) -> None:  # fmt: skip
    """Render the section and its part of the appendix, and write the numbers that their text prints.

    ``instances`` and ``paper_numbers`` (JSON) have one file for each of ``template_sets``; ``comparison_numbers`` count
    verdicts on what the study publishes.
    """
    common = sections.make_context(
        "misgendered", template_sets, figures, tables, comparison_numbers, section_files[0], models=models
    )
    measured, counted, corpora = study.read_table(estimates), files.read_csv(sizes), files.read_csv(corpus_counts)
    by_score, chosen = study.read_table(normalisation), study.read_table(choices)
    for part, path in zip(template_sets, instances, strict=True):
        of_part, rows = common["sets"][part], measured[measured.templates == part]
        of_part["numbers"] |= of_settings(settings, SETTINGS)
        of_part["numbers"] |= {"setting.level": make_entry(LEVEL, f"{LEVEL}", SOURCE, column="low")}
        of_part["numbers"] |= {
            f"size.{row.size}": make_count(row.value, "sizes.csv", templates=part, size=row.size)
            for row in files.iterate_rows(counted[counted.templates == part])
        }
        of_part["numbers"] |= {"corpora": make_count(corpora.corpus.nunique(), "corpus_counts.csv", column="corpus")}
        of_part["numbers"] |= count_instances(path, wording) | count_runs(rows)
        of_part["numbers"] |= changes_of_scores(by_score[by_score.templates == part])
        of_part["numbers"] |= changes_of_choices(chosen[chosen.templates == part])
        means = rows[rows.model == POOLED]
        of_part["accuracies"] = Numbers(of_part, means, IDENTITY, FACTORS, SOURCE)
        of_part["types"] = {row.pronoun_type: row for _, row in estimates_by(means, "pronoun_type").iterrows()}
        of_part["best"] = best_neo(estimates_by(means, "group", pronoun_type="neo"))
    everything = common | {
        "models": models,
        "scores": scores,
        "wording": wording,
        "many_instances": MANY_INSTANCES,
        "called": {name: TITLES[name] for name in template_sets},
    }
    sections.write_all(section_files, section_templates, everything)
    for part, path in zip(template_sets, paper_numbers, strict=True):
        files.write_json(path, common["sets"][part]["numbers"])


def count_instances(path: str, wording: str) -> dict[str, dict]:
    """Return how many instances were scored, and templates and names of them."""
    rows = files.read_parquet(path, ["instance_id", "form", "template_index", "name", "wording"])
    rows = rows[rows.wording == wording]
    counts = {
        "instances": rows.instance_id.nunique(),
        "templates": len(rows[["form", "template_index"]].drop_duplicates()),
        "names": rows.name.nunique(),
    }
    return {f"scored.{name}": make_count(value, "selected.parquet", column=name) for name, value in counts.items()}


def count_runs(rows: pd.DataFrame) -> dict[str, dict]:
    """Return how many models scored, what a random pick comes to, and what examples in the prompt leave open.

    ``examples.sd.most``: the largest standard deviation over draws of the examples, if there is any.
    """
    (whole,) = estimates_by(rows, model=POOLED).to_dict("records")
    cell = {name: whole[name] for name in ("templates", "model", "kind", "scoring", "metric", "shots")}
    models = [name for name in rows.model.unique() if name != POOLED and "|" not in name]
    found = {
        "scored.models": make_count(len(models), SOURCE, **cell),
        "chance": make_entry(whole["chance"], format_percent(whole["chance"], 1), SOURCE, **cell),
    }
    behind = estimates_by(rows, "draw", shots=..., model=models).sort_values("below", kind="stable")
    if len(behind):
        row = behind.iloc[-1]
        found["scored.examples.instances"] = make_count(row.below, SOURCE, **{name: row[name] for name in cell})
    spread = study.by_examples(rows).dropna(subset=["sd"])
    if len(spread):
        row = spread.iloc[spread.sd.argmax()]
        of_row = {name: row[name] for name in (*cell, "pronoun_type")}
        found["examples.sd.most"] = make_entry(row.sd, format_percent(row.sd, 1), SOURCE, **of_row)
    return found


def best_neo(groups: pd.DataFrame) -> dict[str, Any]:
    """Return the neopronouns with the highest accuracy: ``row``, ``label``, whether they are ``distinct``.

    They are if the interval is above that of every other: the largest of some noisy shares is no finding.
    """
    if groups.empty:
        return {}
    best = groups[groups.value == groups.value.max()].sort_values("group")
    row, rest = best.iloc[0], groups[groups.group != best.group.iloc[-1]]
    return {"row": row, "label": sections.list_words(best.group), "distinct": bool((row.low > rest.high).all())}


def changes_of_scores(table: pd.DataFrame) -> dict[str, dict]:
    """Return what the sum of losses and their mean over bytes change, over all models (:func:`describe_change`).

    ``ties``: with the study's score; ``sum.models.moved``: models whose place by accuracy on neopronouns is another by
    the sum.
    """
    source = "normalisation.csv"
    pooled = table[(table.model == POOLED) & (table.group == POOLED)]
    whole = pooled[(pooled.pronoun_type == POOLED) & (pooled.normalisation == DESIGN.scores[0])]
    found = {"ties": make_count(whole.ties.sum(), source, normalisation=DESIGN.scores[0])}
    for row in files.iterate_rows(pooled[pooled.normalisation != DESIGN.scores[0]]):
        ends, before = (row.difference_low, row.difference_high), row.accuracy - row.difference
        cell = {"templates": row.templates, "pronoun_type": row.pronoun_type, "normalisation": row.normalisation}
        found |= describe_change(
            row.normalisation, row.pronoun_type, before, row.accuracy, ends, row.flipped, source, cell
        )
    neo = table[(table.model != POOLED) & (table.group == POOLED) & (table.pronoun_type == "neo")]
    places = neo.pivot(index="model", columns="normalisation", values="accuracy").rank(ascending=False)
    moved = int((places[DESIGN.scores[0]] != places["sum"]).sum()) if len(places) else 0
    return found | {"sum.models.moved": make_count(moved, source, pronoun_type="neo")}


def changes_of_choices(table: pd.DataFrame) -> dict[str, dict]:
    """Return of each choice that is made the other way what changes, over all models (:func:`describe_change`).

    ``choice.<name>.n``: instances that were compared.
    """
    source, found = "choices.csv", {}
    models = table[table.model != POOLED].groupby("choice").model.nunique()
    for row in files.iterate_rows(table[table.model == POOLED]):
        name = f"choice.{row.choice}"
        cell = {key: getattr(row, key) for key in ("templates", "choice", "made", "pronoun_type")}
        ends = (row.low, row.high)
        found |= describe_change(
            name, row.pronoun_type, row.accuracy, row.otherwise, ends, row.other_pick, source, cell
        )
        if row.pronoun_type == POOLED:
            found[f"{name}.n"] = make_count(row.n // models[row.choice], source, **cell)
    return found


def describe_change(
    name: str, kind: str, before: float, after: float, ends: Sequence[float], moved: float, source: str, cell: Mapping
) -> dict[str, dict]:
    """Return ``<name>.other_pick``, the share of other picks; of a type of pronouns what changes.

    ``<name>.<type>.before`` and ``.after`` are accuracies, ``.interval`` that of their difference, in points.
    """
    cell = {key: level for key, level in cell.items() if level}
    if not kind:
        return {f"{name}.other_pick": make_entry(moved, format_percent(moved, 1), source, **cell)}
    low, high = (100 * end for end in ends)
    text = format_interval(low, high, 1, signed=True).replace(MISSING_MARK, "no interval")
    return {
        f"{name}.{kind}.before": make_entry(before, format_percent(before, 1), source, **cell),
        f"{name}.{kind}.after": make_entry(after, format_percent(after, 1), source, **cell),
        f"{name}.{kind}.interval": make_entry(text, text, source, **cell),
    }


def summary(*, estimates: str, normalisation: str, summary: str, models: dict) -> None:
    """Write MISGENDERED's rows of the summary of all studies: accuracies by type of pronouns, also by other scores."""
    rows = estimates_by(study.read_table(estimates), "pronoun_type", model=list(models), shots=...)
    order = {"templates": list(rows.templates.unique()), "pronoun_type": list(TYPES)}
    rows = rows.sort_values(list(order), key=lambda of: of.map(order[str(of.name)].index), kind="stable")
    found = [
        _row(row, models, row.metric, row.value, (row.low, row.high), row.below, row.shots == "0")
        | {"shots": row.shots, "wording": row.wording}
        for row in files.iterate_rows(rows)
    ]
    table = study.read_table(normalisation)
    for row in files.iterate_rows(table[table.model.isin(models) & (table.group == POOLED)]):
        facts = {"shots": "0", "normalisation": row.normalisation, "wording": row.wording}
        found.append(_row(row, models, "accuracy", row.accuracy, (row.low, row.high), row.n) | facts)
        # The study's own score is what the others are compared with.
        if row.normalisation != DESIGN.scores[0]:
            found.append(_row(row, models, "other pick", row.flipped, (None, None), row.n) | facts)
    estimate_rows.write_estimates(summary, "misgendered", found)


def _row(
    row: Any, models: Mapping, metric: str, value: float, ends: tuple, n: float, headline: bool = False
) -> dict[str, Any]:
    facts = models[row.model]
    return {
        "part": row.templates, "model": row.model, "kind": MODEL, "scoring": PROBABILITY, "metric": metric,
        "pronoun_type": row.pronoun_type, "value": value, "low": ends[0], "high": ends[1], "n": n,
        "n_unit": "instances", "label": facts["label"], "demonstration": facts["demonstration"], "headline": headline,
    }  # fmt: skip


if __name__ == "__main__":
    run_named()
