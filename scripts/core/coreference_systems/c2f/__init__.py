"""Coarse-to-fine coreference resolution (Lee et al. 2018; Joshi et al. 2019, 2020)."""
