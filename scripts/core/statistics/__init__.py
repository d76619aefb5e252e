"""Tests, intervals and models of what was measured: bootstraps, paired comparisons, calibration, normalisations.

Imports the package ``data``.
"""
