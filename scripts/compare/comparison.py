"""Everything that a comparison of two runs says, as one JSON value; docs/compare.md describes it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.compare import causes, outputs, pairing, statistics
from scripts.compare.places import SUMMARY, ComparedRun, check_model
from scripts.core import files
from scripts.core.data import estimate_rows
from scripts.core.errors import UserError, count_noun
from scripts.core.provenance import job_records
from scripts.core.provenance.origins import plain_cell
from scripts.core.workflow.studies import PairedOutcomes

FORMAT = 1
LISTED = 1000
"""Up to this many flipped predictions of an estimate are listed; all are counted."""
IDENTITY = ("study", "part", "model", "kind", "scoring", "debiasing")
ROUNDING = 1e-9
"""Estimates that differ by less are the same: a summary has ten digits."""


def compare(a: ComparedRun, b: ComparedRun, folders: tuple[Path, Path], declared: dict) -> dict:
    """Return the comparison of two runs or models.

    Args:
        a: The first run.
        b: The second run; differences are those of b minus a.
        folders: Where they lie, crates unpacked.
        declared: Study to its ``label``, ``outcomes`` and ``paired``.

    Raises:
        UserError: If a model is not in its run, or if the runs have no headline in common.
    """
    runs = [pairing.Run(folder) for folder in folders]
    for side, run, key in zip((a, b), runs, "ab", strict=True):
        check_model(side, key, sorted(set(run.summary[run.summary.headline].model) - {""}))
    estimates, alone = _estimates(runs, (a, b), declared)
    studies = [{entry["study"] for entry in [*estimates, *alone[side]]} for side in "ab"]
    if not set.intersection(*studies):
        raise UserError(f"{a.given} and {b.given} have no study in common; compare runs of the same studies")
    statistics.holm(estimates)
    # Findings and figures pool the models of a run.
    whole = not (a.model or b.model)
    findings = outputs.findings(*folders) if whole else []
    figures = outputs.figures(*folders) if whole else []
    records = [causes.current_records(job_records.load(folder / job_records.FOLDER)) for folder in folders]
    result = {
        "format": FORMAT,
        "a": _described(a, folders[0], records[0]),
        "b": _described(b, folders[1], records[1]),
        "estimates": estimates,
        "only_in_one": alone,
        "findings": findings,
        "figures": figures,
        **_causes(a, b, folders, records),
    }
    result["differs"] = bool(any(entry["differs"] for entry in estimates) or any(alone.values()) or findings or figures)
    return result | {"sentence": summarise(result, {name: facts["label"] for name, facts in declared.items()})}


def of_models(run: pairing.Run, first: str, others: list[str], declared: dict) -> list[dict]:
    """Return the headline estimates of other models of a run minus the first's, as in :func:`compare`.

    Holm's correction is over all of them.
    """
    sides = [ComparedRun(name, run.folder, name) for name in (first, *others)]
    found = [entry for side in sides[1:] for entry in _estimates([run, run], (sides[0], side), declared)[0]]
    statistics.holm(found)
    return found


def _described(side: ComparedRun, folder: Path, records: dict[str, dict]):
    """Return what a comparison says of a run: how it was asked for, the digest of its summary, its commit."""
    made = next((record for record in records.values() if SUMMARY in record.get("outputs", {})), {})
    return {
        "name": side.name,
        "given": side.given,
        "model": side.model,
        "summary_sha256": files.sha256(Path(folder) / SUMMARY),
        "commit": (made.get("git") or {}).get("commit"),
    }


def _key(row: pd.Series, columns: Iterable[str], with_model: bool):
    left_out = ("kind",) if with_model else ("kind", "model", "label")
    return tuple((name, plain_cell(row[name])) for name in columns if name not in left_out and plain_cell(row[name]))


def _estimates(runs: Sequence[pairing.Run], sides: Sequence[ComparedRun], declared: dict[str, dict]):
    """Return the estimates of both runs, and how many only one has."""
    named = [run.headlines(side.model) for run, side in zip(runs, sides, strict=True)]
    columns = [*IDENTITY, "metric", *dict.fromkeys(name for rows in named for name in estimate_rows.factors(rows))]
    with_model = sides[0].model == sides[1].model
    keyed = [{_key(row.reindex(columns), columns, with_model): row for _, row in rows.iterrows()} for rows in named]
    estimates = [_estimate(keyed[0][key], keyed[1][key], runs, declared) for key in keyed[0] if key in keyed[1]]
    alone = {
        side: [_named(row) for key, row in keyed[place].items() if key not in keyed[1 - place]]
        for place, side in enumerate("ab")
    }
    return estimates, alone


def _named(row: pd.Series):
    """Return an estimate's identity and what it is called."""
    factors = {name: plain_cell(row[name]) for name in estimate_rows.factors(row.index) if plain_cell(row[name])}
    told = {name: plain_cell(row[name]) for name in (*IDENTITY, "metric", "unit", "label")}
    return told | {"factors": factors}


def _estimate(one: pd.Series, two: pd.Series, runs: Sequence[pairing.Run], declared: dict[str, dict]):
    entry: dict[str, Any] = _named(one) | {
        "model_b": two.model,
        "label_b": two.label,
        "value_a": one.value,
        "value_b": two.value,
    }
    entry |= {"difference": two.value - one.value, "low": None, "high": None, "p": None, "paired": False}
    entry |= {"detectable": None, "n_clusters": None, "cluster": [], "n_a": None, "n_b": None, "shared": None}
    entry |= {"flipped": 0, "flips": [], "note": ""}
    study = declared.get(one.study, {})
    paired = study.get("paired", {}).get(one.metric)
    made = (
        _of_outcomes(one, two, runs, study.get("outcomes", {}), paired) if paired else "the study declares no outcomes"
    )
    if isinstance(made, str):
        entry["note"] = f"not compared on instances: {made}"
    else:
        entry |= made
    apart = abs(entry["difference"]) > ROUNDING * max(1, abs(one.value))
    # Instances that were exchanged are a difference, even if estimates agree.
    exchanged = entry["shared"] is not None and not entry["paired"]
    return entry | {"differs": bool(apart or entry["flipped"] or exchanged)}


def _of_outcomes(
    one: pd.Series, two: pd.Series, runs: Sequence[pairing.Run], tables: dict[str, list[str]], declared: dict[str, Any]
):
    paired = PairedOutcomes(**declared)
    rows: list[Any] = [pairing.outcomes(run, row, tables, paired) for run, row in zip(runs, (one, two), strict=True)]
    for side, found in zip("ab", rows, strict=True):
        if isinstance(found, str):
            return f"in {side}, {found}"
    units = [statistics.units(found, paired) for found in rows]
    for side, found, row in zip("ab", units, (one, two), strict=True):
        if not pairing.reproduces_value(found, row):
            return f"in {side}, outcomes make another value than the summary's"
    made = statistics.difference(*units)
    flipped = pairing.changed_predictions(*rows) if paired.prediction else pd.DataFrame()
    return {
        **{name: made[name] for name in ("paired", "n_clusters", "n_a", "n_b", "shared")},
        **{name: _or_none(made[name]) for name in ("p", "detectable")},
        **{name: _or_none(made[key]) for name, key in (("low", "ci_low"), ("high", "ci_high"))},
        "cluster": paired.cluster,
        "flipped": len(flipped),
        "flips": _flips(flipped, one, two, runs),
    }


def _or_none(value: float):
    return None if pd.isna(value) else float(value)


def _flips(flipped: Any, one: pd.Series, two: pd.Series, runs: Sequence[pairing.Run]):
    """Return flipped predictions with probabilities and, of the project's own templates alone, with texts."""
    if flipped.empty:
        return []
    chosen = flipped.head(LISTED)
    shares = [run.probabilities(row) for run, row in zip(runs, (one, two), strict=True)]
    own = {one.part, two.part} == {pairing.OWN_TEMPLATES}
    known = runs[0].find(one.study, set(chosen.id)) if own else {}
    told = []
    for row in chosen.itertuples():
        # Of others' templates an option may be a phrase of the sentence.
        entry = {"id": row.id, "right_a": row.value_a, "right_b": row.value_b}
        if own:
            instance = known.get(row.id, {})
            entry |= {"a": row.prediction_a, "b": row.prediction_b, "text": instance.get("text")}
            entry |= {"gold": instance.get("gold", instance.get("answer"))}
            entry |= {f"probabilities_{s}": of.get(row.id, {}) for s, of in zip("ab", shares, strict=True)}
        told.append(entry)
    return told


def _causes(a: ComparedRun, b: ComparedRun, folders: tuple[Path, Path], records: Sequence[dict]):
    """Return the causes that records name, and how many jobs only one run has."""
    recorded = a.path == b.path or all(records)
    told = {"causes": [], "jobs_only_in_one": {"a": 0, "b": 0}, "records": recorded}
    if recorded and a.path != b.path:
        told["causes"] = causes.with_rows(causes.find_causes(*records), *folders)
        told["jobs_only_in_one"] = causes.only_in_one(*records)
    if a.model != b.model:
        chosen = {"kind": "model", "name": "model", "a": a.model or "all", "b": b.model or "all"}
        told["causes"] = [chosen | {"jobs": 0, "rules": [], "results": {}}, *told["causes"]]
    return told


def summarise(result: dict, labels: dict) -> str:
    """Return in one sentence whether and where two runs differ, and in a second one why."""
    a, b = result["a"]["name"], result["b"]["name"]
    named = list(dict.fromkeys(map(_cause, result["causes"])))
    why = ", ".join(named[:3]) + (f" and {len(named) - 3} more" if len(named) > 3 else "")
    if not result["differs"]:
        if why:
            return f"{a} and {b} have the same results, although their records differ: {why}."
        return f"{a} and {b} do not differ."
    estimates = result["estimates"]
    apart = [entry for entry in estimates if entry["differs"]]
    clear = sum(entry["p_holm"] is not None and entry["p_holm"] < 0.05 for entry in estimates)
    alone = [row for rows in result["only_in_one"].values() for row in rows]
    studies = dict.fromkeys(entry["study"] for entry in [*apart, *alone, *result["findings"], *result["figures"]])
    compared = f"{len(apart)} of {count_noun(len(estimates), 'headline estimate')} ({clear or 'none'} significantly)"
    parts = [
        *([compared] if apart else []),
        *([f"{count_noun(len(alone), 'estimate')} that only one of them has"] if alone else []),
        *([count_noun(len(result["findings"]), "verdict")] if result["findings"] else []),
        *([count_noun(len(result["figures"]), "figure")] if result["figures"] else []),
    ]
    told = f"{a} and {b} differ in {', '.join(parts)} of {', '.join(labels.get(name, name) for name in studies)}"
    flipped = sum(entry["flipped"] for entry in estimates)
    told += f"; {count_noun(flipped, 'prediction')} flipped" if flipped else ""
    if result["records"]:
        return f"{told}. Cause on record: {why or 'none'}."
    return f"{told}. Without records of both runs, no cause can be named."


def _cause(cause: dict[str, Any]):
    """Return a cause in a few words; of a digest, its values say nothing."""
    name = cause["kind"] if cause["name"] == cause["kind"] else f"{cause['kind']} {cause['name']}"
    values = [str(cause[side]) for side in "ab"]
    if cause["kind"] in ("module", "template row", "file", "weights") or max(map(len, values)) > 40:
        return name
    return f"{name} ({values[0]} → {values[1]})"
