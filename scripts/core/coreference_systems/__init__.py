"""Coreference systems: running them, training them, and the corpora that they learn from.

Running: ``jobs`` opens a system of the registry, whose weights ``sources`` finds. ``c2f`` is this project's own
implementation: ``windows`` makes tensors of a document, ``model`` scores spans and pairs, ``outcomes`` links them,
``resolve`` does that for plain texts, and ``checkpoints`` reads and writes weights. Systems of ``packages`` run in an
environment of their own, as does ``sentences`` (for Counter-GAP's books): ``packages.process`` speaks with it.

Training on OntoNotes: ``trained_systems`` reads config/coreference_training.yaml, ``training`` takes the steps, and
``metrics`` chooses the epoch.

Corpora: ``conll`` reads OntoNotes and LitBank as ``documents``; ``augmentation`` appends counterfactual copies, with
names that ``first_names`` matched.
"""
