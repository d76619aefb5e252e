"""Whom a system takes the pronoun to mean, by what it leaves: words, clusters, or likelihoods.

Words and clusters are read as the authors' code reads them, with which the published numbers were made, and corrected.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference, model_outputs, options
from scripts.core.errors import UserError
from scripts.winopron.lib.instances import texts
from scripts.winopron.lib.person_rules import people
from scripts.winopron.lib.templates import ANSWERS

COLUMNS = ("instance_id", "prompt", "variant", "answer_text")
"""Columns of a file of answers in words, in any order: a row for each instance, prompt and variant of the prompt."""
READINGS = {"published": "as the authors read answers", "corrected": "corrected"}
"""Ways of reading an answer to their labels (:func:`mentioned_person`, :func:`mentioned_person_corrected`)."""
QUOTES_AND_STOPS = '".'
CONVERSIONS = {
    "corrected": "by places",
    "other_mention": "as the authors read LingMess and CAW-coref",
    "carried_over": "as the authors read SpanBERT",
}
"""Ways of converting to their labels.

``corrected``: the person whose mention shares the pronoun's cluster; nobody, if both people do or neither.
``other_mention``: in the last cluster with a mention that reads exactly as the pronoun does, capitals included, the
first mention that reads otherwise. ``carried_over``: the first mention of the sentence's *first* cluster, once some
cluster has had a mention that reads exactly as the pronoun; that mention is left out, and so are clusters of one
mention, which the authors' system does not make. Where no cluster has the pronoun, *the answer to the sentence before
stays*, which makes an answer out of none, and a right one wherever neighbouring sentences differ in the pronoun
alone."""


def mentioned_person(text: str, people: dict[str, str]) -> str | None:
    """Return whom an answer names, as the authors' code does: tokens in lower case without quotes and stops.

    Args:
        people: ``occupation`` and ``participant`` to their words.

    Returns:
        The key of the one person whose word is among the tokens; None if there is none or both are.

    Examples:
        >>> people = {"occupation": "baker", "participant": "customer"}
        >>> texts = ("The Baker.", "the baker, not the customer", "the baker, surely")
        >>> [mentioned_person(text, people) for text in texts]
        ['occupation', 'participant', None]
    """
    removed = str.maketrans("", "", QUOTES_AND_STOPS)
    return _only(set(text.lower().translate(removed).split()), people)


def mentioned_person_corrected(text: str, people: dict[str, str]) -> str | None:
    """Return whom an answer names, whatever marks, possessive endings and capitals stand around the word.

    Returns:
        As :func:`mentioned_person`.

    Examples:
        >>> people = {"occupation": "baker", "participant": "customer"}
        >>> [mentioned_person_corrected(text, people) for text in ("the baker, surely", "The baker's hat!")]
        ['occupation', 'occupation']
        >>> mentioned_person_corrected("the baker, not the customer", people) is None
        True
    """
    return _only(set(re.findall(r"[^\W_]+(?:-[^\W_]+)*", re.sub(r"['’]s?\b", " ", text.lower()))), people)


def read(path: str | Path, instances: pd.DataFrame) -> pd.DataFrame:
    """Read answers that somebody's system gave in words.

    Args:
        path: CSV with :data:`COLUMNS`; an empty cell is an empty answer.
        instances: Of :mod:`scripts.winopron.lib.instances`.

    Returns:
        ``conversion`` (one of :data:`READINGS`), ``prompt``, ``variant``, ``instance_id``, ``prediction``; for each
        reading the rows of the file in their order.

    Raises:
        UserError: If the file cannot be read or lacks a column, an instance is unknown, asked twice with the same
            prompt and variant, or not asked with one that others were asked with. The message names file and row.
    """
    table = files.read_sheet(path, COLUMNS[0])
    missing = [name for name in COLUMNS if name not in table]
    if missing:
        raise UserError(f"{path}, row 1: the column '{missing[0]}' is missing; the columns are {', '.join(COLUMNS)}")
    table = table[list(COLUMNS)]
    people = people_of(instances)
    asked = {}
    for row in files.rows(table):
        number = row.Index
        if row.instance_id not in people:
            raise UserError(
                f"{path}, row {number}: the instance {row.instance_id[:100]!r} is unknown; ask about the same instances"
            )
        key = (row.prompt, row.variant)
        if row.instance_id in asked.setdefault(key, {}):
            first = asked[key][row.instance_id]
            raise UserError(f"{path}, row {number}: asks what row {first} asks already; remove one")
        asked[key][row.instance_id] = number
    for (prompt, variant), rows in asked.items():
        if len(rows) < len(people):
            lacking = next(name for name in people if name not in rows)
            raise UserError(
                f"{path}: prompt '{prompt}', variant '{variant}' has no answer about '{lacking}' and "
                f"{len(people) - len(rows) - 1} others; ask about all instances"
            )
    return read_both_ways(table, people)


def read_both_ways(table: pd.DataFrame, people: dict[str, dict]) -> pd.DataFrame:
    """Return whom answers name, in both ways of reading them.

    Args:
        table: ``instance_id``, ``prompt``, ``variant``, ``answer_text``.
        people: Instance to people, as :func:`mentioned_person` takes them.

    Returns:
        As of :func:`read`.
    """
    ways = {"published": mentioned_person, "corrected": mentioned_person_corrected}
    texts = list(zip(table.answer_text, table.instance_id, strict=True))
    return pd.concat(
        [
            table.assign(
                conversion=way,
                prediction=pd.Series(
                    [ways[way](text, people[name]) for text, name in texts], table.index, dtype=object
                ),
            )
            for way in READINGS
        ],
        ignore_index=True,
    )[["conversion", "prompt", "variant", "instance_id", "prediction"]]


def of_model(path: str | Path, model: str, prompts: pd.DataFrame, instances: pd.DataFrame) -> pd.DataFrame:
    """Read what a model of the registry answered to prompts about one set of instances.

    Args:
        path: Its answers (``rules/prompting.smk``).
        prompts: All prompts of the file of prompts; those about other instances are left out.

    Returns:
        As of :func:`read`.

    Raises:
        UserError: If the answers are not those to the prompts.
    """
    answered = model_outputs.read_answers(path, model, prompts)[["text_id", "answer"]]
    asked = prompts[prompts.instance_id.isin(instances.instance_id)].merge(
        answered, on="text_id", validate="one_to_one"
    )
    return read_both_ways(asked.rename(columns={"answer": "answer_text"}), people_of(instances))


def people_of(instances: pd.DataFrame) -> dict[str, dict]:
    """Return the people of each instance: by id, ``occupation`` and ``participant`` to their words."""
    return {row.instance_id: {who: getattr(row, who) for who in ANSWERS} for row in files.rows(instances)}


def _only(words: Collection[str], people: Mapping[str, str]):
    found = [key for key, word in people.items() if word.lower() in words]
    return found[0] if len(found) == 1 else None


def read_clusters(path: str | Path, instances: pd.DataFrame, conversion: str) -> pd.DataFrame:
    """Read a system's clusters (the format of :mod:`scripts.core.data.coreference`) and convert them.

    Args:
        instances: Of :mod:`scripts.winopron.lib.instances`, in their order.
        conversion: One of :data:`CONVERSIONS`.

    Returns:
        As of :func:`convert`.

    Raises:
        UserError: If the file is not as described there, or has clusters of other texts.
    """
    return convert(coreference.read(path, texts(instances)), instances, conversion)


def convert(documents: Mapping[str, coreference.Document], instances: pd.DataFrame, conversion: str) -> pd.DataFrame:
    """Return whom each document's clusters name.

    Args:
        documents: By instance.

    Returns:
        ``instance_id``, ``prediction`` (``occupation``, ``participant`` or None), in the order of ``instances``.
    """
    predictions, before = [], None
    for row in files.rows(instances):
        document = documents[row.instance_id]
        if conversion == "corrected":
            predictions.append(_by_places(document, row))
            continue
        if conversion == "other_mention":
            answer = _other_mention(document, row)
        elif conversion == "carried_over":
            before = _first_mention(document, row) or before
            answer = before
        else:
            raise ValueError(conversion)
        words = {key: getattr(row, key) for key in ANSWERS}
        predictions.append(None if answer is None else mentioned_person(answer, words))
    return pd.DataFrame(
        {"instance_id": list(instances.instance_id), "prediction": pd.Series(predictions, dtype=object)}
    )


def _by_places(document: coreference.Document, row: Any):
    """Return the one person with a mention in the pronoun's cluster.

    A mention is a person's if it begins with the person's word or the article before it, goes as far as the word at
    least (*the visitor from the museum*) and does not reach the other person or the pronoun.
    """
    pronoun: Any = document.span(row.pronoun_offset, row.pronoun_offset + len(row.pronoun))
    spans = people(row, document.tokens)
    meant = set()
    for cluster in document.clusters_with(pronoun):
        for first, last in cluster:
            for answer, (start, end) in spans.items():
                # The span of a person begins with the article, if there is one; systems may leave it out.
                others = [pronoun[0], *(s for other, (s, _) in spans.items() if other != answer)]
                reaches = any(first <= place <= last for place in others)
                if start <= first <= end <= last and not reaches:
                    meant.add(answer)
    return meant.pop() if len(meant) == 1 else None


def _mentions(document: coreference.Document, row: Any):
    for cluster in document.clusters:
        yield [row.text[document.tokens[first][0] : document.tokens[last][1]] for first, last in cluster]


def _other_mention(document: coreference.Document, row: Any) -> str | None:
    found = None
    for mentions in _mentions(document, row):
        if row.pronoun in mentions:
            found = next((mention for mention in mentions if mention != row.pronoun), None)
    return found


def _first_mention(document: coreference.Document, row: Any) -> str | None:
    gathered, found = [], None
    for mentions in _mentions(document, row):
        if len(mentions) > 1:
            gathered += mentions
            if row.pronoun in gathered:
                gathered.remove(row.pronoun)
                found = gathered[0]
    return found


def by_likelihood(scores: pd.DataFrame, selected: pd.DataFrame, sentences: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return whom a model takes in every sentence of the templates that it scored: the person of the likelier sentence.

    Trinh and Le (2018) resolve Winograd schemas so, by the likelihood of the whole sentence (full scoring) or of what
    follows the person alone (partial scoring). The study does neither. The model never reads the pronoun, so that what
    it takes is the same for all pronoun sets.

    Args:
        scores: Of :func:`scripts.core.data.model_outputs.read_scores`.
        selected: Of :func:`scripts.winopron.lib.instances.to_score`.
        column: Of ``scores``: one of :data:`scripts.winopron.lib.study.SCORINGS`.

    Returns:
        ``instance_id`` (of ``sentences``), ``prediction``; equal likelihoods go to the occupation.

    Raises:
        UserError: If a template is none of ``sentences``, or a score is missing.
    """
    strange = next((name for name in selected.template if name not in set(sentences.template)), None)
    if strange is not None:
        raise UserError(f"the template '{strange}' was scored and has no sentence; delete the scores and run again")
    if column not in scores or scores[column].isna().any():
        raise UserError(f"the scores lack {column}; delete the scores and run again")
    picked = options.predict(scores.assign(log_probability=scores[column])).option_index
    taken = {row.template: ANSWERS[picked[row.instance_id]] for row in files.rows(selected)}
    kept = sentences[sentences.template.isin(taken)]
    return pd.DataFrame({"instance_id": list(kept.instance_id), "prediction": [taken[name] for name in kept.template]})
