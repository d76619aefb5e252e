"""Coreference systems of packages, which run in an environment of their own (envs/coreference.in).

:mod:`~scripts.core.coreference_systems.packages.worker` and what it imports run there and import nothing else of this
project but the flat core; :mod:`~scripts.core.coreference_systems.packages.client` starts it.
"""
