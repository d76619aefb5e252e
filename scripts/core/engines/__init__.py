"""Running models: registry, batches, the two scoring engines, generation, token distributions, servers, plans.

Imports ``data``, ``models``, ``workflow`` and, of ``provenance``, the digests of modules. Imported by the scripts and
rules that run or plan models; a study imports the registry alone.
"""
