"""Tidy tables read back from their files: columns of words stay words, with nothing where there is no word."""

from scripts.core import files


def metrics(path):
    """Return ``metrics.csv``; ``pairing`` is empty where nothing is grouped."""
    return files.read_csv(path, dtype={"pairing": str}).fillna({"pairing": ""})


def variance(path):
    """Return ``variance.csv``."""
    return files.read_csv(path, dtype={"conversion": str, "part": str})


def women_share(path):
    """Return ``women_share.csv``; ``undefined`` is empty where there is a correlation."""
    return files.read_csv(path, dtype={"undefined": str}).fillna({"undefined": ""})


def bias(path):
    """Return ``bias.csv`` or ``biased_occupations.csv``; prompt and variant are empty for systems without prompts."""
    empty = dict.fromkeys(("prompt", "variant"), "")
    return files.read_csv(path, dtype=dict.fromkeys(empty, str)).fillna(empty)
