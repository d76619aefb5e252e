"""Running models: batches, the two scoring engines, generation, token distributions, servers.

Imports ``data``, ``models``, ``workflow`` and, of ``provenance``, the digests of modules. Imported by the scripts and
rules that run models.
"""
