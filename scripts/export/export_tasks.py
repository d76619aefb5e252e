"""Write the project's own instances as tasks for lm-evaluation-harness, and describe them as a Croissant data set.

A task is a YAML file and a JSONL file. Each choice is a whole text behind an empty context, for which the harness puts
the tokenizer's token of the beginning (or end) before the text: the score is the text's log-likelihood as this project
computes it, given that token (``scored_after`` of the registry, where the tokenizer itself begins no text with it). A
study that compares what follows the slot has a second task, whose contexts end with the option.
"""

import json
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from scripts.core import files
from scripts.core.data import options, templates
from scripts.core.errors import UserError, count_noun
from scripts.core.paper import eval_records
from scripts.core.workflow.job import log, run

if TYPE_CHECKING:
    import pandas as pd

CC_BY = "https://creativecommons.org/licenses/by/4.0/"
CROISSANT = "http://mlcommons.org/croissant/1.0"
_TERMS = [
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
]  # fmt: skip
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{term: f"cr:{term}" for term in _TERMS},
}
"""The JSON-LD context that the Croissant 1.0 specification prescribes."""


def main(
    *, instances: list, canary_file: str, citation_file: str, folder: str, sets: list, own_templates: bool
) -> None:
    """Write ``folder``: ``<task>.yaml``, ``data/<task>.jsonl`` and ``croissant.json``.

    Args:
        instances: Parquet files of ``sets``, in its order.
        canary_file: A file of templates, whose first line holds the canary.
        citation_file: The file CITATION.cff.
        folder: The folder to write.
        sets: ``study``, ``set``, ``score`` (what the study's options are compared by) of each file.
        own_templates: Whether the templates are those of the repository, which are licensed under CC BY 4.0.

    Raises:
        UserError: If a set is not of the project's own templates, or there is none.
    """
    canary = Path(canary_file).read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
    target = Path(folder)
    shutil.rmtree(target, ignore_errors=True)
    (target / "data").mkdir(parents=True)
    written = {}
    for path, entry in zip(instances, sets, strict=True):
        if not templates.is_own(entry["set"]):
            raise UserError(f"{path}: texts of the set '{entry['set']}' are not the project's own; leave the set out")
        tag = f"pronouns_{entry['study']}_{entry['set']}"
        for name, docs in tasks(tag, files.read_parquet(path), entry["score"] == "continuation", canary).items():
            lines = [json.dumps(doc, ensure_ascii=False, allow_nan=False) for doc in docs]
            files.write_text(target / f"data/{name}.jsonl", "\n".join(lines) + "\n")
            described = yaml.safe_dump(task(name, tag, docs[0]), sort_keys=False)
            files.write_text(target / f"{name}.yaml", f"# {canary}\n{described}")
            written[name] = docs[0]
    if not written:
        raise UserError("no study of this run scores the replica templates: there is nothing to export")
    citation = yaml.safe_load(Path(citation_file).read_text(encoding="utf-8"))
    files.write_json(target / "croissant.json", croissant(target, written, canary, citation, own_templates))
    log.info("%s", count_noun(len(written), "task"))


def tasks(tag: str, instances: "pd.DataFrame", continuation: bool, canary: str) -> dict[str, list[dict]]:
    """Return the documents of a set's tasks, by the names of the tasks.

    Conditions that no study pools have a task each, and so have instances without a right answer.

    Args:
        tag: What the names begin with.
        instances: As for :func:`scripts.core.paper.eval_records.samples`.
        continuation: Whether what follows the slot is scored by itself as well.
        canary: Goes with each document.
    """
    distinct = instances.drop_duplicates("instance_id")
    texts = options.option_texts(distinct).groupby("instance_id").text.agg(list)
    kept = eval_records.factors(distinct)
    found = {}
    for right, (_, row) in zip(eval_records.gold_options(distinct), distinct.iterrows(), strict=True):
        offered = list(row.options)
        doc = {
            "instance_id": row.instance_id,
            "text": row.text,
            "options": offered,
            "choices": texts[row.instance_id],
            "gold": -1 if right is None else offered.index(right),
            **{name: eval_records.cell_text(row[name]) for name in kept},
            "canary": canary,
        }
        condition = eval_records.condition(row) if right is not None else "no gold"
        name = "_".join([tag, *re.findall(r"\w+", condition)])
        found.setdefault(name if condition else f"{tag}_full", []).append(doc)
        if continuation:
            behind = row.text.partition(options.SLOT)[2]
            contexts = [text.removesuffix(behind) for text in doc["choices"]]
            found.setdefault(f"{name}_partial", []).append(doc | {"contexts": contexts, "continuation": behind})
    return found


def task(name: str, tag: str, doc: dict) -> dict:
    """Return the harness's description of a task, one of whose documents is ``doc``."""
    asked = {"doc_to_text": "", "doc_to_choice": "choices", "doc_to_target": "gold"}
    if "contexts" in doc:
        asked = {"doc_to_text": "gold", "doc_to_choice": "contexts", "doc_to_target": "continuation"}
    metric = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
    return {
        "task": name,
        # The harness may reuse logits of equal texts that are divided otherwise, so the two kinds are run apart.
        "tag": ["pronouns_partial"] if "contexts" in doc else ["pronouns", tag],
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"data/{name}.jsonl"}},
        "test_split": "test",
        "output_type": "multiple_choice",
        **asked,
        "target_delimiter": "",
        # Without right answers there is no accuracy, only logged scores.
        "metric_list": [metric if doc["gold"] >= 0 else {"metric": "bypass", "aggregation": "bypass"}],
        "should_decontaminate": False,
        "metadata": {"version": 1.0},
    }


def croissant(folder: Path, written: dict[str, dict], canary: str, citation: dict, own_templates: bool) -> dict:
    """Return the Croissant description (1.0, JSON-LD) of the JSONL files in ``folder``.

    Args:
        written: Name of each task to one of its documents.
        citation: CITATION.cff.
        own_templates: As for :func:`main`.
    """
    distribution, record_sets = [], []
    for name, doc in written.items():
        file = {"@id": f"{name}.jsonl"}
        path = folder / f"data/{name}.jsonl"
        distribution.append(
            {
                "@type": "cr:FileObject", **file, "name": f"{name}.jsonl", "contentUrl": f"data/{name}.jsonl",
                "encodingFormat": "application/jsonlines", "sha256": files.sha256(path),
            }
        )  # fmt: skip
        fields = [
            {
                "@type": "cr:Field", "@id": f"{name}/{key}", "name": key,
                "dataType": "sc:Integer" if key == "gold" else "sc:Text",
                **({"repeated": True} if isinstance(value, list) else {}),
                "source": {"fileObject": file, "extract": {"column": key}},
            }
            for key, value in doc.items()
        ]  # fmt: skip
        key = {"@id": f"{name}/instance_id"}
        record_sets.append({"@type": "cr:RecordSet", "@id": name, "name": name, "key": key, "field": fields})
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CROISSANT,
        "name": "pronouns-replica-templates",
        "description": f"Instances of the replica templates: {citation['title']}. {canary}",
        "creator": [{"@type": "sc:Organization", "name": author["name"]} for author in citation["authors"]],
        "version": str(citation["version"]),
        "citeAs": citation["title"],
        **({"license": CC_BY} if own_templates else {}),
        "distribution": distribution,
        "recordSet": record_sets,
    }


if __name__ == "__main__":
    run(main)
