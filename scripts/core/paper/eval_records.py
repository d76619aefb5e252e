"""Results as records of every_eval_ever (schema 0.3.0): one aggregate for each study and model, and its samples.

An aggregate holds the rows of ``results/paper/summary.csv`` that belong to the model, and for each set of instances
that it scored the accuracy of its choices; a sample is one instance with its options, their scores, the choice and
whether it is right. Samples without a right answer have no reference and are never right; their result is the mean
log-probability of the choice. Samples hold all that an import needs (:mod:`scripts.core.data.sample_logs`).

Texts of the project's own templates are exported as they are, with their canary. Texts of any other set are not: their
samples have ids and digests instead. Of an instance's other columns only those whose cells are numbers or single words
are exported, so that no sentence gets out by another way.
"""

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from scripts.core.data import estimate_rows, losses, options, sample_logs, templates
from scripts.core.errors import UserError
from scripts.core.paper import summary as summaries

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = "0.3.0"
LEADING_COLUMNS, TRAILING_COLUMNS = ("instance_id", "text", "options"), ("gold", "answer")
CONDITIONS = ("wording", "n_distractors")
"""Columns of instances over whose values no study pools: a set has a result for each of them."""
POSSESSIVE = ("'s", "’s")
LEVEL = 0.95
ACCURACY = "accuracy of the option with the highest score"
SCORE = "log-probability of the option with the highest score, without a right answer"


def gold_options(instances: Any) -> list[str | None]:
    """Return the right option of each instance, None where there is none.

    Args:
        instances (DataFrame): ``options`` and ``gold``, a form; or ``answer``, the column whose words the right option
            ends with, be it in the possessive case (*the baker's*).

    Raises:
        UserError: If no option, or more than one, ends with these words.
    """
    if "gold" in instances:
        return [right if isinstance(right, str) else None for right in instances.gold]
    if "answer" not in instances:
        return [None] * len(instances)
    right = []
    for row in instances.itertuples():
        word = str(getattr(row, row.answer))
        found = [option for option in row.options if option.endswith((word, *(word + end for end in POSSESSIVE)))]
        if len(found) != 1:
            raise UserError(
                f"instance {row.instance_id}: {len(found)} of its options end with {word!r}, the right answer; "
                "delete the instances and run the workflow again"
            )
        right += found
    return right


def condition(row: "pd.Series") -> str:
    """Return under which of :data:`CONDITIONS` an instance stands, in words; empty if under none."""
    return ", ".join(f"{name} {cell_text(row[name])}" for name in CONDITIONS if name in row and not _missing(row[name]))


def favoured_options(scores: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return the option that each instance's scores favour, by ``instance_id``.

    Args:
        scores: As in a score file.
        metric: The file's; losses on labels are compared by their means
            (:func:`scripts.core.data.losses.comparable_scores`), everything else by sums. Ties go to the first option.
    """
    scores = losses.comparable_scores(scores) if metric == "label_loss" else scores
    best = scores.sort_values(["instance_id", "log_probability", "option_index"], ascending=[True, False, True])
    return best.drop_duplicates("instance_id").set_index("instance_id")


def factors(instances: "pd.DataFrame") -> list[str]:
    """Return the columns of instances that are exported with each sample: those of numbers or single words."""
    kept = []
    for name in instances.columns.drop([*LEADING_COLUMNS, *TRAILING_COLUMNS], errors="ignore"):
        cells = instances[name].dropna()
        if all(isinstance(cell, (bool, int, float)) or _word(cell) for cell in cells):
            kept.append(name)
    return kept


def _word(cell: Any) -> bool:
    if isinstance(cell, str):
        return " " not in cell
    # Numbers of numpy's.
    return hasattr(cell, "dtype") and getattr(cell, "ndim", 1) == 0


def option_scores(scores: "pd.DataFrame") -> dict[str, dict[str, str]]:
    """Return the metadata that an import reads the scores of an instance's options from, by ``instance_id``.

    Args:
        scores: As in a score file.
    """
    keys = {
        "log_probability": sample_logs.LOG_PROBABILITIES,
        "continuation_log_probability": sample_logs.CONTINUATIONS,
        "scored_tokens": sample_logs.TOKENS,
    }
    ordered = scores.sort_values(["instance_id", "option_index"])
    columns = {key: ordered.groupby("instance_id")[name].agg(list) for name, key in keys.items() if name in ordered}
    return {
        name: {key: json.dumps(listed[name]) for key, listed in columns.items()}
        for name in ordered.instance_id.unique()
    }


def samples(
    name: str, instances: "pd.DataFrame", scores: "pd.DataFrame", stated: dict, identity: dict, canary: str
) -> Iterator[dict[str, Any]]:
    """Yield the samples of one set of instances, as dicts.

    Args:
        name: The set.
        instances: ``instance_id``, ``text``, ``options``, the right answer (:func:`gold_options`) and factors.
        stated: Metadata of the file of scores: ``metric`` (:func:`favoured_options`), ``scored_after`` if there is one.
        identity: ``evaluation_id`` and ``model_id``.
        canary: Goes with each text that is exported.
    """
    distinct = instances.drop_duplicates("instance_id")
    chosen = favoured_options(scores, stated["metric"])
    logged = option_scores(scores)
    before = {"scored_after": stated["scored_after"]} if stated.get("scored_after") else {}
    kept = factors(distinct)
    for right, (_, row) in zip(gold_options(distinct), distinct.iterrows(), strict=True):
        # Models may score only some.
        if row.instance_id not in chosen.index:
            continue
        best = chosen.loc[row.instance_id]
        filled = options.fill(row.text, right) if right and options.SLOT in row.text else f"{row.text}\0{right or ''}"
        digest = hashlib.sha256(row.text.encode()).hexdigest()
        facts = {key: cell_text(row[key]) for key in kept if not _missing(row[key])}
        under = condition(row)
        yield {
            "schema_version": SCHEMA_VERSION,
            **identity,
            "evaluation_name": f"{ACCURACY if right else SCORE} ({name})" + (f", {under}" if under else ""),
            "evaluation_result_id": f"{'choices' if right else 'scores'}-{name}"
            + (f"-{under}".replace(" ", "-") if under else ""),
            "sample_id": row.instance_id,
            "sample_hash": hashlib.sha256(filled.encode()).hexdigest(),
            "interaction_type": "single_turn",
            "input": {
                "raw": row.text if templates.is_own(name) else sample_logs.WITHHELD + digest,
                "reference": [right] if right else [],
                "choices": list(row.options),
            },
            "output": {"raw": [best.option]},
            "answer_attribution": [
                {
                    "turn_idx": 0, "source": "output.raw", "extracted_value": best.option,
                    "extraction_method": "highest score among the options", "is_terminal": True,
                }
            ],
            "evaluation": {
                "score": float(best.option == right) if right else float(best.log_probability),
                "is_correct": bool(best.option == right),
            },
            "metadata": facts
            | {"set": name, "log_probability": f"{best.log_probability:.6f}", **logged[row.instance_id], **before}
            | ({"canary": canary} if templates.is_own(name) else {}),
        }  # fmt: skip


def cell_text(cell: object) -> str | None:
    """Return an instance's cell as text; None where it is missing."""
    if _missing(cell):
        return None
    # Whole numbers beside missing ones are floats.
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def model_id(name: str, source: Mapping[str, Any]) -> str:
    """Return what a model is called: its id on the hub, or its name in the registry behind where it comes from."""
    if "hub" in source:
        return source["hub"]
    place = "pypi" if "package" in source else "served" if "base_url" in source else "local"
    return f"{place}/{name}"


def model_info(name: str, facts: dict, metadata: dict) -> dict[str, Any]:
    """Return the schema's ``model_info``.

    Args:
        name: In the registry.
        facts: ``label``, ``architecture``, ``parameters``, ``source``.
        metadata: Of a score file; empty if the model has none.
    """
    source = facts["source"]
    known = "hub" in source or "package" in source
    details = {
        "deployment_type": "unknown" if "base_url" in source else "self_deployed",
        "model_availability": "open_weights" if known else "unknown",
        "architecture": facts["architecture"],
        "parameters": str(facts["parameters"]),
    }
    for key in ("revision", "weights_sha256", "precision", "device"):
        if metadata.get(key):
            details[key] = str(metadata[key])
    if "gate" in metadata:
        details["server_gate"] = json.dumps(metadata["gate"], sort_keys=True)
    info = {"name": facts["label"], "id": model_id(name, source), "additional_details": details}
    if metadata:
        version = str(metadata.get("libraries", {}).get("transformers", "unknown"))
        info["inference_engine"] = {"name": str(metadata["engine"]), "version": version}
    return info


def result(
    name: str,
    dataset: str,
    value: float,
    *,
    identifier: str | None = None,
    low: float | None = None,
    high: float | None = None,
    n: int | None = None,
    bounds: tuple[float | None, float | None] = (None, None),
    details: dict | None = None,
) -> dict:
    """Return one of the schema's ``evaluation_results``; ``bounds`` are the least and the greatest possible value."""
    uncertainty: dict[str, Any] = {}
    if low is not None and high is not None and not _missing(low) and not _missing(high):
        interval = {"lower": float(low), "upper": float(high), "confidence_level": LEVEL}
        uncertainty = {"confidence_interval": interval}
    if n is not None and not _missing(n):
        uncertainty["num_samples"] = int(n)
    made = {
        "evaluation_name": name,
        "source_data": {"dataset_name": dataset, "source_type": "other"},
        "metric_config": {
            "metric_name": name,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": "-Infinity" if bounds[0] is None else bounds[0],
            "max_score": "Infinity" if bounds[1] is None else bounds[1],
        },
        "score_details": {"score": float(value)} | ({"details": details} if details else {}),
    }
    if uncertainty:
        made["score_details"]["uncertainty"] = uncertainty
    return ({"evaluation_result_id": identifier} if identifier else {}) | made


def summary_results(rows: "pd.DataFrame", study: str) -> list[dict]:
    """Return the results of the rows of a summary that have a value, in a study of this label."""
    made = []
    for row in rows[rows.value.notna()].to_dict("records"):
        asked = f"prompt {row[estimate_rows.PROMPT_FACTOR]}" if row.get(estimate_rows.PROMPT_FACTOR) else ""
        # What a score decides goes without saying.
        decided = "" if row["scoring"] in (estimate_rows.PROBABILITY, estimate_rows.DISTRIBUTION) else row["scoring"]
        name = ", ".join(filter(None, [summaries.describe_metric(row), decided, asked]))
        bounds = (0, 1) if row["unit"] == "share" and row["metric"] == "accuracy" else (None, None)
        details = {"status": summaries.row_status(row), "unit": row["unit"], "n_unit": row["n_unit"]}
        ends = {"low": row["low"], "high": row["high"], "n": row["n"]}
        made.append(result(name, f"{study}, {row['part']}", row["value"], bounds=bounds, details=details, **ends))
    return made


def rows_of(summary: "pd.DataFrame", study: str, model: str) -> "pd.DataFrame":
    """Return the rows of a summary that are of a study's model, alone."""
    own = (summary.study == study) & (summary.model == model) & (summary.kind == estimate_rows.MODEL)
    return summary[own & (summary.compared_with == "" if "compared_with" in summary else True)]


def identifier(*parts: str) -> str:
    """Return a UUID of version 4 made from text, the same for the same."""
    digits = list(hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32])
    digits[12], digits[16] = "4", "89ab"[int(digits[16], 16) % 4]
    text = "".join(digits)
    return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])


def aggregate(
    evaluation_id: str,
    info: dict[str, Any],
    results: list[dict],
    *,
    organization: str,
    relationship: str,
    library: dict[str, str],
    created: int,
    detailed: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return an aggregate record."""
    made = {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": evaluation_id,
        "retrieved_timestamp": str(created),
        "source_metadata": {
            "source_name": library["name"],
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        },
        "eval_library": library,
        "model_info": info,
        "evaluation_results": results,
    }
    return made | ({"detailed_evaluation_results": detailed} if detailed else {})
