"""What people see: LaTeX, sections, figures, the explorer, published results beside ours, findings as tests.

Imports ``data`` and ``statistics``. Imported by the scripts of the paper and of every study.
"""
