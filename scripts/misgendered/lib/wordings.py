"""What the wording of declarations changes: the paper's against that of the authors' files."""

from scripts.misgendered.lib import declarations as declaring

COLUMNS = (
    "declaration", "declaration_type", "declaration_number", "templates", "slash", "declared_again", "blank_at_the_end",
    "other_change", "same",
)  # fmt: skip
"""For each declaration of how many ``templates`` the text differs, and why; one template may differ for two reasons.

``slash``: a slash before the apostrophe; ``declared_again``: the declaration stands behind a later mention of the name;
``blank_at_the_end``: the template ends with a blank; ``other_change``: it differs in another way; ``same``: not at all.
The stray declaration that three rows of the authors' ``templates.csv`` carry is in none of their files with
declarations, so that it changes nothing."""


def table(texts, ways):
    """Return what the faithful wording changes of a template set.

    Parameters
    ----------
    texts : scripts.misgendered.lib.templates.Templates
    ways : list of scripts.misgendered.lib.declarations.Declaration

    Returns
    -------
    DataFrame
        A row for each declaration, with :data:`COLUMNS`.
    """
    import pandas as pd

    rows = []
    for way in ways:
        released = texts.released.get((way.kind, way.number))
        faithful = released or [declaring.pattern(way.kind, text.text, "faithful") for text in texts.rows]
        corrected = [declaring.pattern(way.kind, text.text, "corrected") for text in texts.rows]
        counts = dict.fromkeys(COLUMNS[4:], 0)
        for theirs, ours in zip(faithful, corrected, strict=True):
            for reason in reasons(theirs, ours):
                counts[reason] += 1
        rows.append((way.name, way.kind, way.number, len(texts.rows), *counts.values()))
    return pd.DataFrame(rows, columns=COLUMNS)


def reasons(faithful, corrected):
    """Return why two wordings of a template differ, by the names of :data:`COLUMNS`."""
    if faithful == corrected:
        return ["same"]
    found, plain = [], faithful
    if plain.startswith(f"{declaring.NAME}/'s "):
        found.append("slash")
        plain = plain.replace("/'s", "'s", 1)
    again = f"{declaring.NAME} ({declaring.DECLARED})"
    if plain.count(again) > 1:
        found.append("declared_again")
        first, mention, rest = plain.partition(again)
        plain = first + mention + rest.replace(again, declaring.NAME)
    if plain != plain.rstrip():
        found.append("blank_at_the_end")
        plain = plain.rstrip()
    return found if plain == corrected else [*found, "other_change"]
