"""Continuing prompts, in batches and through servers, and token distributions.

Imports ``data``, ``workflow``, ``models``, ``scoring`` and, of ``provenance``, the digests of modules.
"""
