"""What several studies share, as pure functions without Snakemake; imports no study.

``errors``, ``files`` and ``config`` are for everything. Besides these there are packages: ``data`` (instances, options,
scores, templates), ``statistics``, ``workflow`` (declarations, plans, jobs), ``models``, ``scoring``, ``generation``,
``coreference_systems``, ``provenance`` and ``paper``. Each says what it imports; ``tests/test_packages.py`` holds it.
"""
