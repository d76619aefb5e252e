"""From templates to instances: every sentence with every pronoun set, as one table.

Columns: ``instance_id``, ``text``, ``pronoun`` and ``pronoun_offset``, ``pronoun_set`` (its label, such as
he/him/his), ``case``, ``occupation``, ``occupation_offset``, ``participant``, ``participant_offset``, ``answer`` (whom
the pronoun means, ``occupation`` or ``participant``), ``ending`` (1 or 2 in its two templates), ``pair`` (both people),
``template`` (the same for all pronoun sets), ``template_pair`` (the same for both endings), and the lines of the
template files (``template_row``, ``pronoun_row``, ``occupation_row``). Offsets count code points from 0; a sentence
about one person has none for the other.

Rows are in the order of the templates, those of one template in the order of the pronoun sets. A converter that
carries answers over from row to row depends on this order (:mod:`scripts.winopron.predictions`).
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from scripts.core import files
from scripts.core.data import options
from scripts.core.data import templates as template_files
from scripts.core.data.instances import content_id
from scripts.core.data.templates import label_pronouns
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.winopron import prompts as prompt_files
from scripts.winopron import template_checks, templates
from scripts.winopron.templates import ANSWERS, PRONOUN, Templates

PLURAL_FORMS = {"was": "were", "is": "are", "has": "have", "does": "do"}
"""Verb forms directly after a nominative to those that *they* takes. WinoPron has none of them; of the 120 templates of
Winogender Schemas 17 have *was*, and their authors and WinoPron's write *they were*."""


def instances(
    *,
    pronouns: str,
    instances: str,
    entities: str,
    pronoun_sets: list,
    sentences: str | None = None,
    occupations: str | None = None,
    archive: str | None = None,
    winogender: str | None = None,
) -> None:
    """Fill one set of templates with the run's pronoun sets: sentences about two people (double) or about one (single).

    The templates are this project's ``sentences`` and ``occupations``, the authors' ``archive``, or ``winogender``.
    """
    known = template_files.read_pronouns(pronouns)
    chosen = template_files.select_pronoun_sets(known, pronoun_sets, shared=True)
    if winogender:
        # Its authors made no promise that WinoPron's checks would hold (section 3.1 of WinoPron's paper).
        read = templates.read_winogender(winogender)
    else:
        if archive:
            read = templates.read_official(archive)
        else:
            assert sentences and occupations, "the replica has both"
            read = templates.read_replica(sentences, occupations)
        template_checks.check_templates(read, known)
    frame = build_instances(read, entities, chosen, template_files.pronoun_lines(pronouns))
    log.info("%d instances of %d templates", len(frame), len(read.rows))
    files.write_parquet(instances, frame, {"origins": read.origins() | {"pronoun_row": Path(pronouns).name}})


def templates_to_score(*, instances: str, selected: str, pairs: int | str, seed: int) -> None:
    """Select the templates that models resolve by likelihood: those about a sample of pairs of people, or about all."""
    sentences = files.read_parquet(instances)
    table = select_templates(sentences, prompt_files.sample_pairs(sentences.pair, pairs, seed))
    origins = files.parquet_metadata(instances).get("origins", {})
    files.write_parquet(selected, table, {"origins": {k: v for k, v in origins.items() if k in table}})
    log.info("%d templates", len(table))


def prompts(
    *,
    instances: list,
    prompt_templates: str,
    prompts: str,
    pairs: int | str,
    seed: int,
    wording: str,
    chosen: str | list,
    variants: list,
) -> None:
    """Write the prompts of a set of templates: sentences about a sample of people, with every prompt and variant.

    ``instances`` has a file for each kind of sentences that is asked about.
    """
    read = [files.read_parquet(path) for path in instances]
    kept = prompt_files.sample_pairs(read[0].pair, pairs, seed)
    known = prompt_files.read_prompts(prompt_templates, wording, chosen)
    rows = [row for frame in read for row in prompt_files.make_prompts(frame[frame.pair.isin(kept)], known, variants)]
    origins = files.parquet_metadata(instances[0]).get("origins", {}) | {"prompt_row": Path(prompt_templates).name}
    lines = dict.fromkeys(("template_row", "occupation_row", "pronoun_row", "prompt_row"), "Int64")
    files.write_parquet(prompts, pd.DataFrame(rows).astype(lines), {"origins": origins, "pairs": kept})
    log.info("%d prompts about %d pairs of people", len(rows), len(kept))


def build_instances(
    read: Templates, entities: str, pronouns: Mapping[str, dict], pronoun_rows: Mapping[str, int] | None = None
) -> pd.DataFrame:
    """Return the instances of one template set, as the module says.

    Args:
        pronouns: The sets of the run to their forms, in order. Two may share some of their forms.
        pronoun_rows: The line of each set in its file.

    Raises:
        UserError: If the set has no such sentences, or a sentence lacks a slot or a person.
    """
    rows = []
    for number, template in enumerate(read.rows):
        where = f"{read.file}, row {template.row}"
        # The two templates of a pair follow each other.
        first, ending = read.rows[number - number % 2], number % 2 + 1
        pair = f"{first.occupation}-{first.case}"
        sentence = getattr(template, entities)
        if not sentence:
            raise UserError(f"{where}: the set '{read.name}' has no {entities} sentences; use double")
        if sentence.count(PRONOUN) != 1:
            raise UserError(f"{where}: the {entities} sentence needs the slot {PRONOUN} once; correct it")
        before, _, after = sentence.partition(PRONOUN)
        people = {answer: re.search(rf"\b{re.escape(getattr(template, answer))}\b", before) for answer in ANSWERS}
        for answer in ANSWERS if entities == "double" else (template.answer,):
            if not people[answer]:
                raise UserError(f"{where}: the {entities} sentence does not name the {answer} before the slot")
        offsets = {answer: found.start() if found else None for answer, found in people.items()}
        for name, forms in pronouns.items():
            text = before + forms[template.case] + agree_verb(after, template.case, forms)
            label = label_pronouns(forms)
            options = f"{template.occupation}|{template.participant}"
            rows.append(
                {
                    "instance_id": content_id("winopron", text, options, template.answer, label),
                    "text": text,
                    "pronoun": forms[template.case],
                    "pronoun_offset": len(before),
                    "pronoun_set": label,
                    "case": template.case,
                    "occupation": template.occupation,
                    "occupation_offset": offsets["occupation"],
                    "participant": template.participant,
                    "participant_offset": offsets["participant"],
                    "answer": template.answer,
                    "ending": ending,
                    "pair": f"{template.occupation}-{template.participant}",
                    "template": f"{pair}-{ending}",
                    "template_pair": pair,
                    "template_row": template.row,
                    "occupation_row": read.occupation_rows.get(template.occupation),
                    "pronoun_row": (pronoun_rows or {}).get(name),
                }
            )
    lines = ("occupation_offset", "participant_offset", "occupation_row", "pronoun_row")
    return pd.DataFrame(rows).astype(dict.fromkeys(lines, "Int64"))


def agree_verb(after: str, case: str, forms: dict) -> str:
    """Return what follows the pronoun, with a verb directly after it in the form that *they* takes.

    Examples:
        >>> agree_verb(" was late.", "nominative", {"nominative": "they"})
        ' were late.'
    """
    if case != "nominative" or forms["nominative"] != "they":
        return after
    return re.sub(r"^ (\w+)", lambda match: f" {PLURAL_FORMS.get(match[1], match[1])}", after)


def texts_by_id(instances: pd.DataFrame) -> dict[str, str]:
    """Return what a coreference system is given: the text of each instance by its id."""
    return dict(zip(instances.instance_id, instances.text, strict=True))


def select_templates(sentences: pd.DataFrame, pairs: Sequence[str]) -> pd.DataFrame:
    """Return what models score: the templates about some pairs of people, with a slot in place of the pronoun.

    Returns:
        ``instance_id``, ``text`` with the slot, ``options`` (*the baker*, *the customer*; possessive *the baker's*) and
        columns of ``sentences`` (instances about two people) that are the same for all pronoun sets, in the order of
        the text.
    """
    # Where a verb agrees with they, another set has the verb that a noun takes.
    plural = (sentences.pronoun == "they") & sentences.text.str.contains(
        rf" they (?:{'|'.join(PLURAL_FORMS.values())})"
    )
    kept = sentences[~plural & sentences.pair.isin(pairs)].drop_duplicates("template")
    rows = []
    for row in files.iterate_rows(kept):
        end = row.pronoun_offset + len(row.pronoun)
        text = row.text[: row.pronoun_offset] + options.SLOT + row.text[end:]
        mark = "'s" if row.case == "possessive" else ""
        offered = [f"the {getattr(row, who)}{mark}" for who in ANSWERS]
        name = content_id("winopron", text, "|".join(offered), offered[ANSWERS.index(row.answer)])
        rows.append({"instance_id": name, "text": text, "options": offered})
    same = ["template", "case", "occupation", "participant", "answer", "pair", "template_row", "occupation_row"]
    table = pd.DataFrame(rows).join(kept[same].reset_index(drop=True))
    return table.sort_values("text", kind="stable", ignore_index=True)


if __name__ == "__main__":
    run_named()
