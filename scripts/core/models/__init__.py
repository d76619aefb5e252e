"""Models of the registry: what their checkpoints say, fetching, loading, their tokenizers, the record of what ran.

Imports ``data``, ``workflow`` and, of ``provenance``, the digests of modules. Imported by the scripts and rules that
run or plan models, and by the packages that run them.
"""
