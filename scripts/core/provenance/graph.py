"""What files are made from: of jobs (:mod:`scripts.provenance.expected_jobs`), and of records, which name the same.

A graph is a mapping of a file to the files that the job which makes it reads.
"""

import graphlib
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Job = dict[str, Any]


def index_makers(jobs: Iterable[Job]) -> dict[str, Job]:
    """Return ``{output: job}``."""
    return {path: job for job in jobs for path in job["outputs"]}


def inputs_of(jobs: Iterable[Job]) -> dict[str, list[str]]:
    """Return the graph of jobs or records."""
    return {path: list(job["inputs"]) for path, job in index_makers(jobs).items()}


def ancestors(graph: Mapping[str, Iterable[str]], start: Iterable[str]) -> list[str]:
    """Return ``start`` and everything that it is made from, the nearest first."""
    reached, waiting = {}, deque(start)
    while waiting:
        path = waiting.popleft()
        if path not in reached:
            reached[path] = None
            waiting.extend(graph.get(path, ()))
    return list(reached)


def jobs_behind(jobs: Iterable[Job], paths: Iterable[str]) -> list[Job]:
    """Return the jobs that make ``paths`` and what these are made from."""
    jobs = list(jobs)
    reached = set(ancestors(inputs_of(jobs), paths))
    return [job for job in jobs if reached.intersection(job["outputs"])]


def order_jobs(jobs: Sequence[Job]) -> list[Job]:
    """Return the jobs in an order in which they can run."""
    places = {path: n for n, job in enumerate(jobs) for path in job["outputs"]}
    needed = {n: [places[path] for path in job["inputs"] if path in places] for n, job in enumerate(jobs)}
    return [jobs[n] for n in graphlib.TopologicalSorter(needed).static_order()]


def jobs_after(jobs: Sequence[Job], paths: Iterable[str]) -> list[Job]:
    """Return the jobs that would run again if ``paths`` changed, in order."""
    changed, found = set(paths), []
    for job in order_jobs(jobs):
        if changed & set(job["inputs"]):
            changed |= set(job["outputs"])
            found.append(job)
    return found
