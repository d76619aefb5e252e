"""What rules and jobs need: what a study declares, plans, how a script is run, GPUs, the cluster.

Imports errors, files and config.
"""
