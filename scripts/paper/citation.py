"""Who wrote what, when, and where its code is: from the configuration, and otherwise from CITATION.cff."""

from collections.abc import Mapping
from typing import Any

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NAMED = 3
"""Up to this many models are named in a title."""


def plain_title(models: list[str], studies: list[str]) -> str:
    """Return the title of a paper whose scores change nothing: what was studied.

    Args:
        models: Labels of the run's models that are no demonstrations.
        studies: Labels of its studies.

    Examples:
        >>> plain_title(["SmolLM2"], ["RUFF", "WinoPron"])
        'How SmolLM2 handles pronouns: two studies in one run'
        >>> plain_title([], ["RUFF"])
        'How models handle pronouns: a run of RUFF'
    """
    subject = f"{len(models)} models"
    if not models:
        subject = "models"
    elif len(models) <= NAMED:
        subject = " and ".join(filter(None, [", ".join(models[:-1]), models[-1]]))
    verb = "handles" if len(models) == 1 else "handle"
    count = len(studies)
    what = f"a run of {studies[0]}" if count == 1 else f"{NUMBERS[count] if count <= 10 else count} studies in one run"
    return f"How {subject} {verb} pronouns: {what}"


def citation_facts(configured: Mapping[str, Any], citation: Mapping[str, Any], commit_date: str | None) -> dict:
    """Return ``authors``, ``date``, ``code`` and ``licence``; what nobody states is None.

    Args:
        configured: The section ``paper`` of the configuration.
        citation: CITATION.cff.
        commit_date: Of the commit that is checked out, YYYY-MM-DD.
    """
    people = [
        person.get("name") or " ".join(filter(None, [person.get("given-names"), person.get("family-names")]))
        for person in citation.get("authors", [])
    ]
    date = configured["date"] or citation.get("date-released") or commit_date
    return {
        "authors": list(configured["authors"]) or people,
        "date": date and str(date),
        "code": configured["code"] or citation.get("repository-code"),
        "licence": citation.get("license"),
    }
