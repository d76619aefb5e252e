"""Models: the registry, what jobs cost, what checkpoints say, fetching, loading, tokenizers, the record of what ran.

Imports ``data``, ``workflow`` and, of ``provenance``, the digests of modules. Imported by the scripts and rules that
run or plan models, and by the packages that run them; a study imports the registry and its entries alone.
"""
