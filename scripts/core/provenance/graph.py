"""The graph of jobs: what a file is made from, and in which order jobs can run.

A job is a dict with ``inputs`` and ``outputs``, as :mod:`scripts.provenance.expected_jobs` prints it.
"""

import graphlib
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Node = TypeVar("Node")


def walk(starts: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return all nodes that are reached from ``starts``, themselves included, the nearest first."""
    reached, waiting = {}, deque(starts)
    while waiting:
        node = waiting.popleft()
        if node not in reached:
            reached[node] = None
            waiting.extend(following(node))
    return list(reached)


def makers(jobs: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return ``{output: job}``."""
    return {path: job for job in jobs for path in job["outputs"]}


def with_inputs(jobs: Iterable[dict[str, Any]], paths: Iterable[str]) -> set[str]:
    """Return ``paths`` and everything that they are made from, siblings of the same job included."""
    made = makers(jobs)
    return set(walk(paths, lambda path: [*made[path]["inputs"], *made[path]["outputs"]] if path in made else []))


def order_jobs(jobs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the jobs in an order in which they can run."""
    places = {path: n for n, job in enumerate(jobs) for path in job["outputs"]}
    needed = {n: [places[path] for path in job["inputs"] if path in places] for n, job in enumerate(jobs)}
    return [jobs[n] for n in graphlib.TopologicalSorter(needed).static_order()]


def jobs_after(jobs: Sequence[dict[str, Any]], paths: Iterable[str]) -> list[dict[str, Any]]:
    """Return the jobs that would run again if ``paths`` changed, in order."""
    changed, found = set(paths), []
    for job in order_jobs(jobs):
        if changed & set(job["inputs"]):
            changed |= set(job["outputs"])
            found.append(job)
    return found
