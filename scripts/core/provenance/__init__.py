"""Where results come from: records of jobs, the audit, origins in template rows, digests of modules, the manifest.

Imports ``data`` and ``workflow``. Imported by what runs models (digests of modules) and by the scripts that audit,
publish or typeset results.
"""
