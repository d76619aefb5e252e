"""Whom each system takes the pronoun to mean, by what it leaves: words, clusters, or likelihoods.

Words and clusters are read as the study's authors' code reads them (``published``), with which the published numbers
were made, and ``corrected``:

- Clusters, corrected: the person whose mention shares the pronoun's cluster; nobody, if both people do or neither.
- ``other_mention``, the authors' way with LingMess and CAW-coref: in the last cluster with a mention that reads exactly
  as the pronoun does, capitals included, the first mention that reads otherwise.
- ``carried_over``, theirs with SpanBERT: the first mention of the sentence's *first* cluster, once some cluster has had
  a mention that reads exactly as the pronoun; that mention is left out, and so are clusters of one mention, which the
  authors' system does not make. Where no cluster has the pronoun, *the answer to the sentence before stays*, which
  makes an answer out of none, and a right one wherever neighbouring sentences differ in the pronoun alone.
"""

import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import coreference, model_outputs, options, sheets
from scripts.core.errors import UserError
from scripts.core.workflow.job import log, run_named
from scripts.winopron.baselines import person_spans
from scripts.winopron.instances import texts_by_id
from scripts.winopron.study import ASKED, CORRECTED, IDENTITY, LIKELIHOODS, PUBLISHED
from scripts.winopron.templates import ANSWERS

COLUMNS = [*IDENTITY, *ASKED, "instance_id", "prediction", "right"]
"""``prompt`` and ``variant`` are empty for systems that are not prompted."""
SHEET = ("instance_id", *ASKED, "answer_text")
"""Columns of a file of answers in words, in any order: a row for each instance, prompt and variant of the prompt."""


def predictions(
    *,
    instances: str,
    outputs: list,
    prompts: list,
    selected: list,
    predictions: str,
    readers: list,
    templates: str,
    entities: str,
) -> None:
    """Write whom every system takes the pronoun to mean in one set of instances (Parquet; :data:`COLUMNS`).

    ``outputs`` are the files of ``readers`` (:meth:`scripts.winopron.plan.Plan.readers`); ``prompts`` and ``selected``
    have what models were asked and scored, at most one file each.
    """
    sentences = files.read_parquet(instances)
    asked, scored = (files.read_parquet(paths[0]) if paths else None for paths in (prompts, selected))
    table = pd.concat(
        [read_outputs(path, reader, sentences, asked, scored) for path, reader in zip(outputs, readers, strict=True)],
        ignore_index=True,
    )
    table = table.assign(templates=templates, entities=entities).reindex(columns=COLUMNS)
    table[ASKED] = table[ASKED].fillna("")
    table["right"] = table.prediction == table.instance_id.map(sentences.set_index("instance_id").answer)
    for system, rows in table.groupby(IDENTITY, sort=False):
        log.info("%s: accuracy %.4f", ", ".join(filter(None, map(str, system))), rows.right.mean())
    files.write_parquet(predictions, table)


def read_outputs(
    path: str, reader: Mapping[str, Any], sentences: pd.DataFrame, asked: Any, scored: Any
) -> pd.DataFrame:
    """Return the predictions of one system, in every way of reading its outputs."""
    if reader["outputs"] == "clusters":
        documents = coreference.read_clusters(path, texts_by_id(sentences))
        ways = {CORRECTED: "corrected"} | ({PUBLISHED: reader["published"]} if reader["published"] else {})
        parts = [
            predict_by_clusters(documents, sentences, way).assign(reading=reading) for reading, way in ways.items()
        ]
    elif reader["outputs"] == "scores":
        scores = model_outputs.read_scores(path, reader["model"], scored)
        parts = [
            predict_by_likelihood(scores, scored, sentences, column).assign(reading=CORRECTED, scoring=scoring)
            for scoring, column in LIKELIHOODS.items()
        ]
    else:
        of_model = reader["outputs"] == "answers"
        answers = read_answers(path, reader["model"], asked, sentences) if of_model else read_sheet(path, sentences)
        parts = [
            answers.assign(reading=reading, prediction=named_people(answers, sentences, named))
            for reading, named in ((PUBLISHED, mentioned_person), (CORRECTED, mentioned_person_corrected))
        ]
    found = pd.concat(parts).assign(model=reader["model"], kind=reader["kind"])
    return found if reader["outputs"] == "scores" else found.assign(scoring=reader["scoring"])


def mentioned_person(text: str, people: Mapping[str, str]) -> str | None:
    """Return whom an answer names, as the authors' code does: tokens in lower case without quotes and stops.

    Args:
        people: ``occupation`` and ``participant`` to their words.

    Examples:
        >>> people = {"occupation": "baker", "participant": "customer"}
        >>> texts = ("The Baker.", "the baker, not the customer", "the baker, surely")
        >>> [mentioned_person(text, people) for text in texts]
        ['occupation', 'participant', None]
    """
    return _only(set(text.lower().translate(str.maketrans("", "", '".')).split()), people)


def mentioned_person_corrected(text: str, people: Mapping[str, str]) -> str | None:
    """Return whom an answer names, whatever marks, possessive endings and capitals stand around the word.

    Examples:
        >>> people = {"occupation": "baker", "participant": "customer"}
        >>> [mentioned_person_corrected(text, people) for text in ("the baker, surely", "The baker's hat!")]
        ['occupation', 'occupation']
        >>> mentioned_person_corrected("the baker, not the customer", people) is None
        True
    """
    return _only(set(re.findall(r"[^\W_]+(?:-[^\W_]+)*", re.sub(r"['’]s?\b", " ", text.lower()))), people)


def _only(words: Collection[str], people: Mapping[str, str]) -> str | None:
    found = [key for key in ANSWERS if people[key].lower() in words]
    return found[0] if len(found) == 1 else None


def named_people(answers: pd.DataFrame, sentences: pd.DataFrame, named: Callable) -> pd.Series:
    """Return whom each answer (``instance_id``, ``answer_text``) names, by one way of reading it."""
    known = sentences.set_index("instance_id")[list(ANSWERS)].to_dict("index")
    texts = zip(answers.answer_text, answers.instance_id, strict=True)
    return pd.Series([named(text, known[name]) for text, name in texts], answers.index, dtype=object)


def read_answers(path: str | Path, model: str, prompts: pd.DataFrame, sentences: pd.DataFrame) -> pd.DataFrame:
    """Return what a model of the registry answered to prompts about some sentences: the columns :data:`SHEET`."""
    answered = model_outputs.read_answers(path, model, prompts)[["text_id", "answer"]]
    asked = prompts[prompts.instance_id.isin(sentences.instance_id)]
    return asked.merge(answered, on="text_id", validate="one_to_one").rename(columns={"answer": "answer_text"})[
        list(SHEET)
    ]


def read_sheet(path: str | Path, sentences: pd.DataFrame) -> pd.DataFrame:
    """Return answers that somebody's system gave in words: a CSV with :data:`SHEET`; an empty cell is an empty answer.

    Raises:
        UserError: Unless each prompt and variant of the file has one answer about every sentence.
    """
    table = sheets.read_sheet(path, SHEET[0])
    if missing := [name for name in SHEET if name not in table]:
        raise UserError(f"{path}, row 1: the column '{missing[0]}' is missing; the columns are {', '.join(SHEET)}")
    table = table[list(SHEET)]
    for row, name in table.instance_id[~table.instance_id.isin(sentences.instance_id)].items():
        raise UserError(f"{path}, row {row}: the instance {name[:100]!r} is unknown; ask about the same instances")
    keys = table[list(SHEET[:-1])]
    for row in keys.index[keys.duplicated()]:
        first = keys.index[(keys == keys.loc[row]).all(axis=1)][0]
        raise UserError(f"{path}, row {row}: asks what row {first} asks already; remove one")
    for (prompt, variant), rows in table.groupby(ASKED, sort=False):
        lacking = sentences.instance_id[~sentences.instance_id.isin(rows.instance_id)]
        if len(lacking):
            raise UserError(
                f"{path}: prompt '{prompt}', variant '{variant}' has no answer about '{lacking.iloc[0]}' and "
                f"{len(lacking) - 1} others; ask about all instances"
            )
    return table


def predict_by_clusters(
    documents: Mapping[str, coreference.Document], sentences: pd.DataFrame, way: str
) -> pd.DataFrame:
    """Return whom each document's clusters name, read ``corrected`` or in a published way, in the order of sentences.

    The module has these ways of reading; ``carried_over`` depends on the order.
    """
    predictions, before = [], None
    for row in files.iterate_rows(sentences):
        document = documents[row.instance_id]
        if way == "corrected":
            predictions.append(find_by_position(document, row))
            continue
        if way == "carried_over":
            before = answer = first_mention(document, row) or before
        else:
            answer = other_mention(document, row)
        words = {key: getattr(row, key) for key in ANSWERS}
        predictions.append(None if answer is None else mentioned_person(answer, words))
    return pd.DataFrame(
        {"instance_id": list(sentences.instance_id), "prediction": pd.Series(predictions, dtype=object)}
    )


def find_by_position(document: coreference.Document, row: Any) -> str | None:
    """Return the one person with a mention in the pronoun's cluster.

    A mention is a person's if it begins with the person's word or the article before it, goes as far as the word at
    least (*the visitor from the museum*) and does not reach the other person or the pronoun.
    """
    pronoun: Any = document.span(row.pronoun_offset, row.pronoun_offset + len(row.pronoun))
    spans = person_spans(row, document.tokens)
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


def cluster_mentions(document: coreference.Document, row: Any) -> list[list[str]]:
    """Return the words of the mentions of each cluster."""
    tokens, text = document.tokens, row.text
    return [[text[tokens[first][0] : tokens[last][1]] for first, last in cluster] for cluster in document.clusters]


def other_mention(document: coreference.Document, row: Any) -> str | None:
    """Return what the authors' code takes from clusters of LingMess and CAW-coref."""
    found = None
    for words in cluster_mentions(document, row):
        if row.pronoun in words:
            found = next((mention for mention in words if mention != row.pronoun), None)
    return found


def first_mention(document: coreference.Document, row: Any) -> str | None:
    """Return what the authors' code takes from clusters of SpanBERT, if some cluster has the pronoun."""
    gathered, found = [], None
    for words in cluster_mentions(document, row):
        if len(words) > 1:
            gathered += words
            if row.pronoun in gathered:
                gathered.remove(row.pronoun)
                found = gathered[0]
    return found


def predict_by_likelihood(
    scores: pd.DataFrame, selected: pd.DataFrame, sentences: pd.DataFrame, column: str
) -> pd.DataFrame:
    """Return whom a model takes in every sentence of the templates that it scored: the person of the likelier sentence.

    Trinh and Le (2018) resolve Winograd schemas so, by the likelihood of the whole sentence (full scoring) or of what
    follows the person alone (partial scoring). The study does neither. The model never reads the pronoun, so that what
    it takes is the same for all pronoun sets.

    Equal likelihoods go to the occupation. Templates ``selected`` were scored; ``column`` is what they are compared by.

    Raises:
        UserError: If a template is none of ``sentences``, or a score is missing.
    """
    strange = next((name for name in selected.template if name not in set(sentences.template)), None)
    if strange is not None:
        raise UserError(f"the template '{strange}' was scored and has no sentence; delete the scores and run again")
    if column not in scores or scores[column].isna().any():
        raise UserError(f"the scores lack {column}; delete the scores and run again")
    picked = options.pick_best(scores.assign(log_probability=scores[column])).option_index
    taken = dict(zip(selected.template, (ANSWERS[picked[name]] for name in selected.instance_id), strict=True))
    kept = sentences[sentences.template.isin(taken)]
    return kept[["instance_id"]].assign(prediction=kept.template.map(taken))


if __name__ == "__main__":
    run_named()
