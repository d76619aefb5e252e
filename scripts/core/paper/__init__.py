"""What becomes text: LaTeX, sections, published results beside ours, findings as tests.

Imports the flat modules of the core. Imported by the scripts of the paper and of every study.
"""
