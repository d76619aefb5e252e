"""Scores of the options of instances; knows instances, options and a model, and no study. In nats:

* A decoder's score of a text is the sum of the log-probabilities of its tokens but the first.
* An encoder's is the pseudo-log-likelihood of Salazar et al. (2020) in the within-word left-to-right variant of Kauf
  and Ivanova (2023). Both are what the RUFF paper uses (section 4.2).
* An encoder-decoder reads the instance with its slot masked. T5's kind is scored on the span
  ``<extra_id_0> option <extra_id_1>``, BART's on the whole text (MISGENDERED, section on models). MISGENDERED takes
  the mean over tokens, RUFF the sum: score files hold both.

Special cases, decided once:

* The tokenizer's own special tokens are kept and nothing is added but a model's ``bos_token``, if the registry has one.
  A decoder's first token (its beginning-of-sequence token, if it has one) has no left context and is not scored; an
  encoder's classification and separator tokens are never scored; an encoder-decoder's end-of-sequence label is, as in
  its training loss.
* An unknown token is scored like any other. A text longer than the model's context is an error, never truncated.
* Equal scores go to the option that comes first (:mod:`scripts.core.data.options`).
* The log-softmax runs in float32 whatever the precision of the weights (``network.token_values``).

``reader`` makes texts of instances. A scorer (``decoder``, ``masked``, ``seq2seq``, ``minicons``) has ``ways`` of
running them, ``plan(texts)``, which divides them into batches, and ``run(batch)``; ``check`` chooses the way.
``criteria`` makes tables of the values.
"""
