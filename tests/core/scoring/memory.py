"""Scores in memory, as a job makes them of an instance file."""

import numpy as np

from scripts.core.models.contexts import context_length
from scripts.core.scoring.check import choose_way, make_scorer
from scripts.core.scoring.criteria import CRITERIA, fill_options
from scripts.core.scoring.reader import Reader, check_lengths
from scripts.scoring.score import RANDOM, check_finite, options_of_longest


class Scores:
    """Scores of instances.

    Args:
        model: Network, tokenizer and architecture.
        instances: As for :func:`scripts.core.data.options.option_texts`.
        checked: What the way is chosen with; all instances unless given.

    Attributes:
        scorer, check: The scorer, and what the record says of it.
        texts, plan, table: What was read, the batches, and the scores.
    """

    def __init__(self, model, instances, criterion="log_likelihood", engine="packed", tokens="auto", checked=None):
        network, tokenizer, architecture = model
        reader = Reader(tokenizer, architecture, with_kinds=criterion != "log_likelihood")
        limit = context_length(network)
        self.rows = fill_options(instances, architecture, criterion)
        self.texts = reader.read(self.rows)
        check_lengths(self.rows, self.texts, limit)
        self.scorer = make_scorer(engine, network, tokenizer, architecture, tokens, limit)
        known = self.rows if checked is None else fill_options(checked, architecture, criterion)
        others = known.drop_duplicates("instance_id")
        probes = options_of_longest(known, reader.read(known))
        probes += reader.read(others.iloc[:: len(others) // RANDOM + 1])
        self.check = choose_way(self.scorer, probes)
        self.plan = self.scorer.plan(self.texts)
        self.table = CRITERIA[criterion](self.rows, self.texts, self.values())

    def values(self):
        """Return the values of each text's scored tokens."""
        values = [np.zeros(0)] * len(self.texts)
        for batch in self.plan:
            for number, found in zip(batch.members, self.scorer.run(batch), strict=True):
                check_finite(self.rows.iloc[number], found, self.scorer.network)
                values[number] = found
        return values
