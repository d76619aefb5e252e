"""What people are asked about RUFF (section 3.3), and the line that their accuracy makes in its figures."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scripts.core.data.options import SLOT, fill
from scripts.core.errors import UserError
from scripts.ruff.lib.templates import PERSON, PRONOUN

if TYPE_CHECKING:
    from scripts.ruff.lib.instances import Narratives

QUESTION = "pronoun"
"""The question of the task in which people fill the blank (``templates/annotation/ruff_fidelity.yaml``)."""


def validation(narratives: "Narratives") -> pd.DataFrame:
    """Return the items in which people judge every template: grammatical, and who the pronoun can refer to.

    Every task sentence comes twice, once with a question about each of the two people: its pronoun refers to the
    occupation and could not refer to the participant, of whom the sentence before it may speak. A context template
    comes in its explicit form, about an occupation, and in its implicit one, which names nobody and is judged for
    grammar alone. The pronoun sets take turns, and so do the occupations, so that each comes about as often.

    Returns:
        As :mod:`scripts.core.data.annotation` takes it. Two items of a task sentence are one group.
    """
    rows = []
    sets = list(narratives.sets)
    tasks = narratives.templates.tasks
    for place, task in enumerate(tasks):
        form = narratives.sets[sets[place % len(sets)]][task.case]
        sentence = fill(task.sentence.replace(PRONOUN, SLOT), form)
        group = f"task-{task.row}"
        asked = f"Suppose that the sentence before spoke of the {task.participant}. Could the pronoun {form} refer to "
        for who, question, expected in (
            ("occupation", f"Does the pronoun {form} refer to the {task.occupation}?", "yes"),
            ("participant", f"{asked}the {task.participant}?", "no"),
        ):
            rows.append((f"{group}-{who}", group, sentence, question, expected))
    people = list(dict.fromkeys(task.occupation for task in tasks))
    contexts = [context for of_case in narratives.templates.contexts.values() for context in of_case]
    for place, context in enumerate(contexts):
        form = narratives.sets[sets[place % len(sets)]][context.case]
        person, name = people[place % len(people)], f"context-{context.case}-{context.row}"
        question = f"Does the pronoun {form} refer to the {person}?"
        explicit = context.explicit.replace(PERSON, person).replace(PRONOUN, form)
        rows.append((f"{name}-explicit", "", explicit[:1].upper() + explicit[1:], question, "yes"))
        rows.append((f"{name}-implicit", "", fill(context.implicit.replace(PRONOUN, SLOT), form), "", ""))
    return pd.DataFrame(rows, columns=["item_id", "group", "sentence", "question", "expected"])


def fidelity(samples: list[pd.DataFrame], instances: int, seed: int) -> pd.DataFrame:
    """Return the items in which people fill the blank: some instances of each number of distractors.

    Args:
        samples: One sample for each number of distractors.
        instances: How many are drawn from each (the study: 100).
        seed: Of the draws.

    Returns:
        As :mod:`scripts.core.data.annotation` takes it.

    Raises:
        UserError: If a sample has fewer instances.
    """
    drawn = []
    for sample in samples:
        if len(sample) < instances:
            raise UserError(
                f"ruff.annotation.instances: {instances} are wanted and a sample has {len(sample)}; ask for fewer"
            )
        rows = np.random.default_rng([seed, int(sample.n_distractors.iloc[0])]).permutation(len(sample))[:instances]
        drawn.append(sample.iloc[np.sort(rows)])
    table = pd.concat(drawn, ignore_index=True)
    return pd.DataFrame({"item_id": table.instance_id, "sentence": table.text, "expected": table.gold})


def human_baseline(paths: Sequence[str], published: float) -> float | dict:
    """Return the line of people in figures: the accuracy of this run's annotators, or the published one.

    Args:
        paths: What people's answers come to (:func:`scripts.core.statistics.agreement.accuracy`); none if nobody was
            asked.

    Returns:
        As :func:`scripts.core.paper.plotting.human_line` takes it.

    Raises:
        FileNotFoundError: If the file is not made yet: Snakemake asks again later.
    """
    for path in paths:
        table = pd.read_csv(path)
        table = table[table.question == QUESTION]
        # One annotator has no row for all together.
        whole = table if len(table) == 1 else table[table.annotator.isna()]
        return {"accuracy": float(whole.accuracy.iloc[0]), "label": "human, this run"}
    return published
