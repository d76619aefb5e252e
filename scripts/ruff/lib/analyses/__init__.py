"""Pronoun fidelity: pure functions from scores to the tidy tables behind the figures, one module for each analysis.

A ``predictions`` frame has one row for each model, instance and sample; its columns are listed at
:func:`scripts.ruff.lib.analyses.predictions.predictions`.
"""
