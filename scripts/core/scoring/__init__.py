"""What goes through the workflow: template files, instances, options, scores, answers, clusters, estimates.

Imports errors, files and config.
"""
