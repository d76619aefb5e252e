"""A small study on disk, with markup where there should be none, and what it declares for the explorer."""

from dataclasses import asdict

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference
from scripts.core.workflow.studies import DecisionTable, ExploredSet, ExplorerView

MARKUP = "<script>document.title = 'pwned'</script>\"' & <b>"
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
                "instance_id": f"id{n:02}", "options": ["his", "her"], "pronoun": introduced, "n": count,
                "text": f"{text} {n} said “😀” to {introduced}. {other}The cook lost ___ hat.",
                "case": "possessive" if n % 4 else MARKUP, "occupation": f"{text} {n % 12}",
                "task_row": n + 3, "context_rows": [4, n + 5],
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def build(folder):
    """Write the study's files below a folder; return what the page is made from."""
    sets = []
    for label, own, text in (("replica", True, MARKUP), ("official", False, SECRET)):
        frame = instances(text)
        origins = {"task_row": "task.tsv", "context_rows": "context.tsv"}
        files.write_parquet(folder / f"{label}.parquet", frame, {"origins": origins})
        decisions = []
        for model, wrong in (("m", 3), ("other", 2)):
            picked = [PRONOUNS[(n + (n % wrong == 0)) % 2] for n in range(60)]
            decisions.append(frame[["instance_id"]].assign(model=model, prompt="", picked=picked))
        asked = decisions[0][:6].assign(prompt="1", picked=None)
        table = pd.concat([*decisions, asked])
        table["right"] = table.picked.to_numpy() == frame.set_index("instance_id").pronoun[table.instance_id].to_numpy()
        files.write_parquet(folder / f"{label}_decided.parquet", table.assign(outcome="several"))
        sets.append(
            ExploredSet(label, str(folder / f"{label}.parquet"), own, [decided(folder, label)]),
        )
    outputs(folder, instances(MARKUP))
    explored = ExplorerView(
        sets=sets, key=["instance_id"], gold="pronoun", words=("introduced", "preferred"),
        levels={"he": "he", "she": "she"}, unit=("occupation", "occupations"),
        factors={"case": f"case {MARKUP}", "n": "others"}, own_factors={"occupation": "occupation"},
        options=["he", "she"], distractors="n",
        models={"M <script>": {"family": "GPT-2", "architecture": "decoder", "parameters": None}},
    )  # fmt: skip
    question = f"Who? {MARKUP}"
    return {"small": {"label": f"Small {MARKUP}", "question": question} | asdict(explored)}


def decided(folder, label):
    """Return the declaration of a set's decisions; a set whose texts are secret has all outputs in it too."""
    return DecisionTable(
        table=str(folder / f"{label}_decided.parquet"),
        reader={"model": {"m": "M <script>"}, "prompt": "prompt {}"},
        picked=("picked", "outcome"),
        right="right",
        scores=[{"file": str(folder / "scores.parquet"), "model": "m", "prompt": ""}],
        clusters=[{"file": str(folder / "clusters.jsonl"), "model": "other"}],
        prompts=str(folder / "prompts.parquet"),
        answers=[{"file": str(folder / "answers.parquet"), "model": "m"}],
    )


def outputs(folder, frame):
    """Write scores, clusters, prompts and answers of the set that is shown."""
    scores = [(name, place, -1.0 - place) for name in frame.instance_id for place in (0, 1)]
    columns = ["instance_id", "option_index", "log_probability"]
    files.write_parquet(folder / "scores.parquet", pd.DataFrame(scores, columns=columns))
    documents = []
    for row in frame.itertuples():
        tokens = coreference.tokenise(row.text)
        digest = coreference.digest(row.text)
        documents.append(coreference.Document(row.instance_id, digest, tokens, (((0, 1), (3, 3)), ((2, 2),))))
    coreference.write(folder / "clusters.jsonl", documents)
    asked = frame[:6]
    prompts = asked[["instance_id"]].assign(
        text_id=asked.instance_id + "-1", prompt="1", text="Fill: " + asked.text + "\nNow!"
    )
    files.write_parquet(folder / "prompts.parquet", prompts)
    answers = prompts[["text_id"]].assign(answer=f"her {MARKUP}", answer_thought=f"Hm. {MARKUP}", chain=None)
    files.write_parquet(folder / "answers.parquet", answers)
