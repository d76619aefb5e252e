"""What several studies share, as pure functions without Snakemake; imports no study.

The flat modules (files, instances, options, statistics, plotting, ...) import no sub-package. ``engines``,
``provenance`` and ``paper`` say what they import and who imports them; ``tests/test_rooms.py`` holds it.
"""
