"""Instances behind examples (section 3.3 of the paper, In-Context Learning).

Each example is an instance of the same form with another template, another name and another pronoun group, its slot
filled with the right form; examples and instance declare all five forms explicitly and stand on lines of their own. The
examples of an instance are drawn by the seed, the number of the draw and the instance alone, one after the other and
none twice, so that the first examples of a long prompt are those of a shorter one. In the faithful wording they are as
in the released code: no template comes twice as long as there are others of the form, and a blank stands on either side
of a line break.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data import options
from scripts.core.errors import UserError, count_noun, did_you_mean
from scripts.misgendered import samples, study
from scripts.misgendered.assembly import Instances

KIND = "explicit"
"""How examples and instances declare pronouns; :func:`find_declaration` says which."""

TOKENS_PER_LINE = 48
"""Tokens of an example or an instance, on the dear side: 39 on average, and 48 in the longest of 110 prompts with four
examples or more, of either template set, under MiniLM's tokenizer."""


def make_prompts(instances: Instances, shots: int, draws: int, size: int, seed: int) -> pd.DataFrame:
    """Return instances with examples before them.

    Args:
        instances: Of the one declaration that examples use (:func:`find_declaration`).
        draws: How often the examples are drawn anew for each of ``size`` instances, a balanced sample.

    Returns:
        ``size * draws`` rows, the draw varying fastest, also with the templates, names and groups of the examples and
        which lines of their files these are.
    """
    questions = samples.draw_sample(instances, size, seed, "few_shot.instances")
    questions = questions.loc[questions.index.repeat(draws)].reset_index(drop=True)
    drawn = [
        draw_examples(instances, question, shots, seed, row % draws)
        for row, question in enumerate(questions.itertuples(index=False))
    ]
    shown = instances.table(pd.concat(drawn, ignore_index=True))
    end = " \n " if instances.wording == "faithful" else "\n"
    filled = [options.fill_slot(text, form) + end for text, form in zip(shown.text, shown.gold, strict=True)]
    before = ["".join(filled[start : start + shots]) for start in range(0, len(filled), shots)]
    made = instances.table(questions, before=before, shots=shots, draws=draws)
    of_examples = {
        "example_templates": shown.template_index,
        "example_names": shown["name"],
        "example_groups": shown.group,
        "example_template_rows": shown.template_row,
        "example_name_rows": shown.name_row,
    }
    return made.assign(**{name: pd.Series(np.split(of.to_numpy(), len(made))) for name, of in of_examples.items()})


def draw_examples(instances: Instances, question: Any, shots: int, seed: int, draw: int) -> pd.DataFrame:
    """Return the choices behind the examples of one instance, made from the choices ``question``: rows, none twice."""
    forms = [text.form for text in instances.templates.rows]
    form = forms[question.template]
    others = np.array([index for index, of in enumerate(forms) if of == form and index != question.template])
    shape = (len(others), len(instances.names) - 1, len(instances.groups) - 1)
    if shots > np.prod(shape):
        raise UserError(
            f"misgendered.few_shot.shots is {shots}, but the form {form} has {np.prod(shape)} examples with "
            f"another template, name and group than {instances.templates.rows[question.template].where}; add templates"
        )
    random = np.random.default_rng([seed, draw, question.template, question.name, question.group])
    order = random.permutation(len(others)) if instances.wording == "faithful" else None
    drawn = {}
    while len(drawn) < shots:
        template, name, group = np.unravel_index(int(random.integers(np.prod(shape))), shape)
        if order is not None:
            template = order[len(drawn) % len(others)]
        drawn[template, name, group] = None
    template, names, groups = np.array(list(drawn)).T
    # Skipping an item of a list: the j-th of the others is j, or j + 1 from the skipped one on.
    return pd.DataFrame(
        {
            "declaration": question.declaration,
            "template": others[template],
            "name": names + (names >= question.name),
            "group": groups + (groups >= question.group),
        }
    )


def metadata(instances: Instances, shots: int, draws: int, size: int, seed: int) -> dict[str, Any]:
    """Return the metadata of a file of instances with examples."""
    given = instances.metadata(shots=shots, draws=draws, sample=size, seed=seed)
    origins = given["origins"]
    lines = {"example_template_rows": origins["template_row"], "example_name_rows": origins["name_row"]}
    return given | {"origins": origins | {name: file for name, file in lines.items() if not file.startswith("{")}}


def find_declaration(combinations: dict, path: str | Path) -> int:
    """Return the number of the declaration that examples use; a UserError if no combination declares all five forms."""
    number = next((number for number, (forms, _) in combinations.items() if set(forms) == set(study.FORMS)), None)
    if number is None:
        raise UserError(f"{path}: no combination declares all five forms, as examples do; add it")
    return number


def select_models(names: str | list[str], models: Sequence[str]) -> list[str]:
    """Return the models that read examples: all, or those that ``misgendered.few_shot.models`` names."""
    if names == "all":
        return list(models)
    for name in names:
        if name not in models:
            hint = did_you_mean(name, models) or f"; these are {', '.join(models)}"
            raise UserError(f"misgendered.few_shot.models: '{name}' is not among the study's models{hint}")
    return [model for model in models if model in names]


def check_contexts(shots: Sequence[int], contexts: dict[str, int | None]) -> None:
    """Refuse numbers of examples that make texts longer than a model takes, before any job is started.

    ``contexts`` are the longest texts that models take, in tokens; None if there is no limit or it is not known. A text
    that is too long all the same is refused when its scoring job begins.
    """
    for number in shots:
        for model, context in contexts.items():
            if context is not None and (number + 1) * TOKENS_PER_LINE > context:
                most = context // TOKENS_PER_LINE - 1
                remedy = f"give it at most {most}, or leave" if most > 0 else "leave"
                raise UserError(
                    f"misgendered.few_shot.shots: {count_noun(number, 'example')} and an instance have up to "
                    f"{(number + 1) * TOKENS_PER_LINE} tokens, and {model} takes {context}; {remedy} the model out of "
                    "misgendered.few_shot.models"
                )
