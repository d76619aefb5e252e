"""Scores of instances that another tool logged (:mod:`scripts.core.data.sample_logs`), read as the scores of a model.

An empty context makes a log-likelihood the score of the text. A context that ends with the option makes it the score of
what follows (:mod:`scripts.core.engines.continuation`). lm-evaluation-harness puts the tokenizer's token of the
beginning (or end) before the text and scores all other tokens. Records of every_eval_ever name the token that the model
read first. The tokenizer counts the tokens; where records count them too, both counts must be equal.
"""

from typing import Any

import numpy as np
import pandas as pd

from scripts.core.data import losses, sample_logs
from scripts.core.data.model_outputs import ROUNDING
from scripts.core.data.options import SLOT
from scripts.core.engines import models
from scripts.core.engines.batches import TextReader
from scripts.core.errors import UserError

WHOLE_TEXT, AFTER_SLOT = "log_probability", "continuation_log_probability"
REMEDY = "export the run's instances (snakemake export) and score them again"


def open_texts(model: str, outputs: dict, paths: list[str]) -> tuple[TextReader, str | None]:
    """Return what the model read with a tokenizer.

    Args:
        model: Its name in the registry, for messages.
        outputs: ``outputs`` of its entry.
        paths: Its files.

    Returns:
        The texts, and the token that stood before each of them where the tokenizer puts none there (otherwise None), as
        ``scored_after`` of the registry.

    Raises:
        UserError: If the tokenizer cannot be loaded, or the harness would read other tokens around texts.
    """
    tokenizer = models.load_tokenizer(model, {"tokenizer": outputs["tokenizer"]})
    if sample_logs.common_format(paths) == sample_logs.RECORDS:
        after = sample_logs.scored_after(paths)
    else:
        first: Any = tokenizer.bos_token or tokenizer.eos_token
        around = tokenizer("")["input_ids"]
        if not first or around not in ([], [tokenizer.convert_tokens_to_ids(first)]):
            raise UserError(
                f"model {model}: its tokenizer puts other tokens around texts than {sample_logs.HARNESS}; leave it out"
            )
        after = None if around else first
    return TextReader(models.score_after(tokenizer, after), "decoder"), after


def collect(paths: list[str], rows: pd.DataFrame, needed: tuple[str, ...]) -> tuple[pd.DataFrame, int]:
    """Return the logged scores of options.

    Args:
        paths: JSONL files of one format.
        rows: As returned by :func:`scripts.core.data.options.option_texts`.
        needed: :data:`WHOLE_TEXT`, and :data:`AFTER_SLOT` where a study compares it.

    Returns:
        A column for each of ``needed``, in nats, and a row for each of ``rows``; where tokens were counted, the column
        ``scored_tokens`` as well. And how many logged instances are not among ``rows``.

    Raises:
        UserError: Naming file and line, if a text differs from the run's, a score is no log-likelihood or is logged
            twice; naming an instance, if a score of it is missing.
    """
    values = {column: np.full(len(rows), np.nan) for column in needed}
    places = rows.groupby("instance_id", sort=False).indices
    texts, openings = rows.text.to_numpy(), _through_option(rows)
    tokens = np.full(len(rows), -1)
    left_out = set()
    for where, identifier, answers, counts in sample_logs.read_scores(paths, rows.masked.unique()):
        at = places.get(identifier)
        if at is None:
            left_out.add(identifier)
            continue
        where = f"{where}: instance {identifier}"
        if len(answers) != len(at):
            raise UserError(f"{where}: it has {len(answers)} options, in the run {len(at)}; {REMEDY}")
        if [context + rest for context, rest, _ in answers] != list(texts[at]):
            raise UserError(f"{where}: its texts differ from those of the run; {REMEDY}")
        contexts = [context for context, _, _ in answers]
        if not any(contexts):
            column = WHOLE_TEXT
        elif contexts == list(openings[at]):
            column = AFTER_SLOT
        else:
            raise UserError(f"{where}: its contexts are neither empty nor end with the option; {REMEDY}")
        scores = np.array([score for _, _, score in answers])
        if not (np.isfinite(scores) & (scores <= ROUNDING)).all():
            raise UserError(f"{where}: {scores.tolist()} are no log-likelihoods; {REMEDY}")
        if column in values:
            if not np.isnan(values[column][at]).all():
                raise UserError(f"{where} is logged twice; name each file once, and one run of each task")
            values[column][at] = scores
            tokens[at] = -1 if counts is None else counts
    for column, found in values.items():
        if np.isnan(found).any():
            missing = rows.instance_id[np.isnan(found)]
            raise UserError(
                f"{paths[0]} and the model's other files lack {column} of instance {missing.iloc[0]} "
                f"({missing.nunique()} of {len(places)} lack it); name all files of the set, or {REMEDY}"
            )
    table = pd.DataFrame(values | ({sample_logs.TOKENS: tokens} if (tokens >= 0).any() else {}))
    # A part of a text cannot be less probable than the text.
    rest = values.get(AFTER_SLOT, np.full(len(rows), np.inf))
    wrong = values[WHOLE_TEXT] > rest + ROUNDING
    if wrong.any():
        raise UserError(
            f"{paths[0]} and the model's other files: instance {rows.instance_id[wrong].iloc[0]}: the text is more "
            "probable than a part of it; run the tasks of whole texts and of parts apart, or with the model argument "
            "logits_cache=False"
        )
    return table, len(left_out)


def _through_option(rows: Any):
    """Return what each text begins with, its option included."""
    ends = rows.masked.map(lambda masked: masked.index(SLOT)) + rows.filled.str.len()
    return np.array([text[:end] for text, end in zip(rows.text, ends, strict=True)], dtype=object)


def table(rows: pd.DataFrame, values: pd.DataFrame, texts: TextReader, score: str) -> pd.DataFrame:
    """Return logged scores as the scoring of local models writes them.

    Args:
        rows, values: As for and from :func:`collect`.
        texts: From :func:`open_texts`.
        score: What a study's options are compared by, as in :class:`scripts.core.workflow.studies.ScoredInstances`.

    Returns:
        The columns of :func:`scripts.core.engines.scoring.result_table` but those of single tokens; for
        ``continuation`` and ``label_loss`` those of their modules too, where ``option_log_probability`` is empty: it is
        not logged.

    Raises:
        UserError: If a token holds the end of an option and what follows.
    """
    lengths = texts.lengths(rows)
    counts = lengths - texts.unscored
    if sample_logs.TOKENS in values and (wrong := values[sample_logs.TOKENS].to_numpy() != counts).any():
        row = int(np.flatnonzero(wrong)[0])
        raise UserError(
            f"instance {rows.instance_id.iloc[row]}: the record counts {values[sample_logs.TOKENS].iloc[row]} tokens, "
            f"the tokenizer {counts[row]}; name the model's own tokenizer in outputs.tokenizer"
        )
    made = pd.DataFrame(
        {
            "instance_id": rows.instance_id.to_numpy(),
            "option": rows.option.to_numpy(),
            "option_index": rows.option_index.to_numpy(dtype="int8"),
            WHOLE_TEXT: values[WHOLE_TEXT],
            "mean_log_probability": values[WHOLE_TEXT] / counts,
            "scored_tokens": counts.astype(np.int32),
        }
    )
    if score == "log_likelihood":
        return made
    kinds, option_tokens = texts.label_kinds(rows)
    if score == "label_loss":
        for name, kind in losses.COLUMNS.items():
            missing: Any = kind.capitalize()
            made[name] = pd.array([pd.NA] * len(rows), dtype=missing)
            if name.startswith(("sentinel", "end")):
                made[name] = np.zeros(len(rows), dtype=kind)
        return made.assign(option_tokens=option_tokens.astype(np.int32))
    ends = [np.flatnonzero(kind)[-1] + 1 if kind.any() else 0 for kind in kinds]
    rest = np.array([len(kind) - end for kind, end in zip(kinds, ends, strict=True)])
    if (lengths - texts.lengths(rows.assign(text=_through_option(rows))) != rest).any():
        raise UserError(
            "the tokenizer has a token that holds the end of an option and what follows; leave the model out"
        )
    return made.assign(continuation_log_probability=values[AFTER_SLOT], continuation_tokens=rest.astype(np.int32))
