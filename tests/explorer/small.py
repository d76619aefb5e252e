"""A small study on disk, with markup where there should be none, and what it declares for the explorer."""

from dataclasses import asdict

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference, estimate_rows
from scripts.core.workflow.studies import ExplorerView

MARKUP = "<script>document.title = 'pwned'</script>\"' & <b> --> {{ data }} ${alert(1)} javascript:alert(1)"
SECRET = "Zanzibar's heron"
CANARY = "CANARY 1234 never to be used for training."
PRONOUNS = ("he", "she")


def instances(text):
    """Return 60 instances of twelve occupations; every third has a sentence about somebody else."""
    rows = []
    for n in range(60):
        introduced, count = PRONOUNS[n % 2], int(n % 3 == 0)
        other = "The guest sat down. " * count
        rows.append(
            {
                "instance_id": f"id{n:02}", "options": ["his", "her"], "pronoun": introduced, "n_distractors": count,
                "text": f"{text} {n} said “😀” to {introduced}. {other}The cook lost ___ hat.", "cook": "cook",
                "cook_offset": len(f"{text} {n} said “😀” to {introduced}. {other}The "),
                "case": "possessive" if n % 4 else MARKUP, "occupation": f"{text} {n % 12}",
                "task_row": n + 3, "context_rows": [4, n + 5],
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def build(folder):
    """Write the study's files below a folder; return what the page is made from."""
    sets = {}
    for label, text in (("replica", MARKUP), ("official", SECRET)):
        frame = instances(text)
        origins = {"task_row": "task.tsv", "context_rows": "context.tsv"}
        files.write_parquet(folder / f"{label}.parquet", frame, {"origins": origins})
        predictions = []
        for model, wrong in (("m", 3), ("other", 2)):
            predicted = [PRONOUNS[(n + (n % wrong == 0)) % 2] for n in range(60)]
            predictions.append(frame[["instance_id"]].assign(model=model, prompt="", prediction=predicted))
        asked = predictions[0][:6].assign(prompt="1", prediction=None)
        table = pd.concat([*predictions, asked])
        gold = frame.set_index("instance_id").pronoun[table.instance_id].to_numpy()
        table["right"] = table.prediction.to_numpy() == gold
        files.write_parquet(folder / f"{label}_predicted.parquet", table.assign(outcome="several"))
        sets[label] = [str(folder / f"{label}.parquet"), str(folder / f"{label}_predicted.parquet")]
    outputs(folder, instances(MARKUP))
    explored = ExplorerView(
        sets=sets, gold="pronoun", words=("introduced", "preferred"), levels={"he": "he", "she": "she"},
        unit=("occupation", "occupations"), factors=["case", "n_distractors", "occupation"],
        clusters=[{"file": str(folder / "clusters.jsonl"), "system": "other"}],
    )  # fmt: skip
    study = {
        "label": f"Small {MARKUP}", "question": f"Who? {MARKUP}", "headline": [], "shown": ["replica"],
        "template_files": {"task.tsv": "templates/small/task.tsv"},
        "outputs": [
            {"kind": "scores", "model": "m", "file": str(folder / "scores.parquet")},
            {"kind": "answers", "model": "m", "file": str(folder / "answers.parquet"),
             "asked": str(folder / "prompts.parquet")},
        ],
    }  # fmt: skip
    return {"small": asdict(explored) | study}


MODELS = {"m": {"label": "M <script>", "family": "GPT-2", "architecture": "decoder", "parameters": None}}


def summary(folder):
    """Write the study's rows of the summary and return the path."""
    rows = [
        ("rule", 0.7, False, "heuristic"), ("other", 0.6, True, "system"), ("M <script>", 0.5, False, "model"),
        ("nobody", None, False, "model"),
    ]  # fmt: skip
    table = pd.DataFrame(rows, columns=["label", "value", "demonstration", "kind"])
    table = table.assign(study="small", metric="accuracy", headline=True).reindex(columns=list(estimate_rows.COLUMNS))
    files.write_csv(folder / "summary.csv", table)
    return str(folder / "summary.csv")


def outputs(folder, frame):
    """Write scores, clusters, prompts and answers of the set that is shown."""
    scores = [(name, place, -1.0 - place) for name in frame.instance_id for place in (0, 1)]
    columns = ["instance_id", "option_index", "log_probability"]
    files.write_parquet(folder / "scores.parquet", pd.DataFrame(scores, columns=columns))
    documents = []
    for row in frame.itertuples():
        tokens = coreference.split_words(row.text)
        digest = coreference.digest_text(row.text)
        documents.append(coreference.Document(row.instance_id, digest, tokens, (((0, 1), (3, 3)), ((2, 2),))))
    coreference.write_clusters(folder / "clusters.jsonl", documents)
    asked = frame[:6]
    prompts = asked[["instance_id"]].assign(
        text_id=asked.instance_id + "-1", prompt="1", text="Fill: " + asked.text + "\nNow!"
    )
    files.write_parquet(folder / "prompts.parquet", prompts)
    answers = prompts[["text_id"]].assign(answer=f"her {MARKUP}", answer_thought=f"Hm. {MARKUP}", chain=None)
    files.write_parquet(folder / "answers.parquet", answers)
