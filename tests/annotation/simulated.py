"""Simulated annotators: they know the right answers and make errors at a stated rate, by a seed."""

import json

import numpy as np

from scripts.core.data import annotation

WORDS = ("he", "him", "his", "she", "her", "they", "them", "their", "xe", "xem", "xyr")


def answers(task, seed: int, errors: float = 0.0, flags: dict[str, set[str]] | None = None):
    """Return what a simulated annotator enters: ``{item_id: {column: cell}}``.

    Args:
        task (scripts.core.data.annotation.Task): With the right answers.
        errors: The share of answers that are drawn from the wrong ones, in each question that has a wanted answer.
        flags: Questions of the kind flag to the items that are flagged.
    """
    random = np.random.default_rng(seed)
    given = {}
    for item in task.items.itertuples():
        cells = {}
        for question in task.questions:
            asked = not question.get("per_item") or item.question
            wanted = item.expected if question.get("scored") else question.get("accepted", "")
            cell = ""
            if question["kind"] == "flag":
                cell = "yes" if item.item_id in (flags or {}).get(question["id"], ()) else ""
            elif asked and question["kind"] != "note":
                cell = wrong(question, item, wanted, random) if random.random() < errors else wanted
            if question["kind"] == "spans":
                by_key = {person["key"]: person["name"] for person in annotation.offered_people(item)}
                cell = by_key.get(cell, cell)
            cells[question["column"]] = cell
        given[item.item_id] = cells
    return given


def wrong(question, item, wanted, random):
    """Draw an answer other than the wanted one."""
    if question["kind"] == "spans":
        options = [*(person["key"] for person in annotation.offered_people(item)), annotation.NO_PERSON]
    else:
        options = question.get("options", WORDS)
    return random.choice([option for option in options if option != wanted])


def fill(sheet, given):
    """Return a sheet with the cells of :func:`answers` in it."""
    filled = sheet.copy()
    for column in next(iter(given.values())):
        filled[column] = [given[row][column] for row in filled.Row]
    return filled


def saved(task, annotator, given):
    """Return the text of the file that the page saves: answers by the ids of questions, empty ones left out."""
    ids = {question["column"]: question["id"] for question in task.questions}
    kept = {item: {ids[column]: cell for column, cell in cells.items() if cell} for item, cells in given.items()}
    return json.dumps({"task": task.digest, "annotator": annotator, "answers": {k: v for k, v in kept.items() if v}})
