"""Systems of known accuracy on made-up sentences about many pairs of people."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from scripts.core import files
from scripts.winopron import estimates, instances, study
from tests.winopron import make

PEOPLE = {f"worker{chr(97 + number)}": f"person{chr(97 + number)}" for number in range(12)}
TWO = {"occupation": "weaver", "participant": "buyer"}
OTHER = {"occupation": "participant", "participant": "occupation"}
USUAL = {
    "templates": "replica", "entities": "double", "model": "m", "kind": "system", "scoring": "clusters",
    "reading": "corrected", "prompt": "", "variant": "",
}  # fmt: skip
PREDICTED = [*study.IDENTITY, *study.ASKED, "instance_id", "prediction", "right"]
BY_CASE = {"nominative": 0.95, "accusative": 0.6, "possessive": 0.8}


def sentences(folder, entities="double"):
    """Return instances about twelve pairs of people."""
    return instances.build_instances(make.read(folder, occupations=PEOPLE), entities, make.PRONOUNS)


def one_sentence(text: str, pronoun: str) -> pd.DataFrame:
    """Return a table with one instance about :data:`TWO` people; offsets are those of the first mentions."""
    places = {f"{who}_offset": text.index(word) for who, word in TWO.items()}
    row = {"instance_id": text, "text": text, "pronoun": pronoun, "pronoun_offset": text.index(f" {pronoun} ") + 1}
    return pd.DataFrame([row | TWO | places | {"answer": "occupation"}])


def answered(frame: pd.DataFrame, choose: Callable, **facts: str) -> pd.DataFrame:
    """Return answers as estimates take them: ``choose`` gives the prediction for a row of instances, or None."""
    predictions = pd.Series([choose(row) for row in frame.itertuples()], frame.index, dtype=object)
    return frame.assign(**USUAL | facts, prediction=predictions, right=predictions == frame.answer)


def answers(frame: pd.DataFrame, accuracy: Callable, seed: int = 1, **facts: str) -> pd.DataFrame:
    """Return answers that are right with a probability, the ``accuracy`` of a row."""
    drawn = iter(np.random.default_rng(seed).random(len(frame)))
    return answered(frame, lambda row: row.answer if next(drawn) < accuracy(row) else OTHER[row.answer], **facts)


def write_run(folder: Path, models: Iterable[str]) -> Path:
    """Write instances, predictions and tables of estimates of rules and of the study's systems into a folder.

    Rules name the occupation; systems are right by :data:`BY_CASE` and read in two ways, FLAN-T5 with two prompts.
    """

    def of_models(frame: pd.DataFrame, entities: str) -> Iterator[pd.DataFrame]:
        for seed, name in enumerate(models):
            if name in study.RULES:
                yield answered(frame, lambda _: "occupation", model=name, kind="heuristic", entities=entities)
                continue
            prompted = name.startswith("FLAN")
            facts = {"model": name, "entities": entities}
            facts |= {"scoring": "prompted", "variant": "none"} if prompted else {}
            for reading in study.READINGS:
                for number, prompt in enumerate(("0", "1") if prompted else ("",)):
                    asked = facts | {"reading": reading, "prompt": prompt}
                    yield answers(frame, lambda row: BY_CASE[row.case], 10 * seed + number, **asked)

    paths = {"instances": [], "predictions": []}
    for entities in study.ENTITIES:
        frame = sentences(folder, entities)
        written = {"instances": frame, "predictions": pd.concat(of_models(frame, entities))[PREDICTED]}
        for kind, table in written.items():
            paths[kind].append(str(folder / f"{entities}_{kind}.parquet"))
            files.write_parquet(paths[kind][-1], table)
    names = ("estimates", "biased_occupations", "overlap")
    estimates.estimates(**paths, **{name: str(folder / f"{name}.csv") for name in names}, draws=100, seed=1)
    return folder
