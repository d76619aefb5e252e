"""Balanced samples of all instances, which need not be made.

Row by row, each time what was taken least often:

1. Form and group go round together: every 55 rows (with five forms and eleven groups) each pair comes once, in a new
   seeded order. Of a form's templates the one that was taken least often with the group, and then by itself: every 550
   rows (with ten templates for each form) each template comes once with each group.
2. The declaration that was taken least often, by itself, with the group, the form and the template.
3. The class of names that was taken least often for its size, by itself, with the group, the declaration and the
   template, so that a sample has the classes in the proportion of the full set; in the class the names go round in a
   seeded order.

What is still equal goes by an order that the seed shuffled. No row is taken twice, and a smaller sample is the
beginning of a larger one with the same seed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from scripts.core.errors import UserError
from scripts.misgendered import study
from scripts.misgendered.assembly import CHOICES, Instances

if TYPE_CHECKING:
    import pyarrow


def draw_sample(instances: Instances, size: int, seed: int, key: str = "sample.instances") -> pd.DataFrame:
    """Return the choices behind a sample (:data:`scripts.misgendered.assembly.CHOICES`).

    A sample of everything is in order: the group varies fastest, then the name. ``key`` is what messages call the
    size.
    """
    available = math.prod(instances.shape)
    if size > available:
        raise UserError(f"misgendered.{key} is {size}, but there are {available} instances; use at most {available}")
    if size == available:
        return pd.DataFrame(np.indices(instances.shape).reshape(len(CHOICES), -1).T, columns=[*CHOICES])
    return pd.DataFrame(_Drawing(instances, np.random.default_rng(seed)).rows(size), columns=[*CHOICES])


def sample_with_rewordings(
    instances: Instances, size: int, reworded_size: int, seed: int
) -> "Iterator[pyarrow.RecordBatch]":
    """Yield a sample in batches, and behind it the beginning of such a sample in the other wording of declarations.

    At most ``reworded_size`` come in the other wording as well. A text that the wording leaves as it is keeps its id,
    so that models score it once.
    """
    yield from instances.batches(draw_sample(instances, size, seed))
    yield from instances.reworded().batches(draw_sample(instances, min(reworded_size, size), seed))


class _Drawing:
    def __init__(self, instances: Instances, random: np.random.Generator):
        self.random = random
        self.groups = len(instances.groups)
        forms = [list(study.FORMS).index(template.form) for template in instances.templates.rows]
        self.templates = {form: self._shuffled(np.flatnonzero(np.array(forms) == form)) for form in sorted(set(forms))}
        self.declarations = self._shuffled(np.arange(len(instances.declarations)))
        classes = np.array([study.NAME_CLASSES.index(entry["name_class"]) for entry in instances.names])
        self.names = {label: self._shuffled(np.flatnonzero(classes == label)) for label in sorted(set(classes))}
        self.classes = self._shuffled(np.array(list(self.names)))
        self.taken = Counter()
        self.seen = set()

    def _shuffled(self, values: np.ndarray):
        return [int(value) for value in self.random.permutation(values)]

    def rows(self, size: int) -> list[tuple[int, int, int, int]]:
        """Return (declaration, template, name, group) of ``size`` rows."""
        rows = []
        cells = [(form, group) for form in self.templates for group in range(self.groups)]
        while True:
            for position in self.random.permutation(len(cells)):
                if len(rows) == size:
                    return rows
                row = self._row(*cells[position])
                if row is not None:
                    rows.append(row)

    def _row(self, form: int, group: int):
        """Return the next row of a form and a group; None if all of what is wanted next are taken."""
        template = self._take(self.templates[form], lambda t: [("tg", t, group), ("t", t)])
        declaration = self._take(
            self.declarations,
            lambda d: [("d", d), ("dg", d, group), ("df", d, form), ("dt", d, template)],
        )
        label = self._take(
            self.classes,
            lambda c: [("c", c), ("cg", c, group), ("cd", c, declaration), ("ct", c, template)],
            lambda c: len(self.names[c]),
        )
        row = self._free(declaration, template, label, group)
        if row is not None:
            self.seen.add(row)
        return row

    def _take(
        self,
        values: Iterable[int],
        keys: Callable[[int], Iterable[tuple]],
        weight: Callable[[int], int] = lambda value: 1,
    ):
        """Return the value that was taken least often for its weight, the first of several, and count it."""
        # What it would be after this row: of classes that were never taken, the largest comes first.
        least = min(values, key=lambda value: [(self.taken[key] + 1) / weight(value) for key in keys(value)])
        # Counted even if no row is left there, so that the next turn looks elsewhere.
        self.taken.update(keys(least))
        return least

    def _free(self, declaration: int, template: int, label: int, group: int):
        """Return a row with the next name of a class that was not taken; None if all were."""
        names = self.names[label]
        for _ in names:
            name = names[self.taken["name", label] % len(names)]
            self.taken["name", label] += 1
            if (row := (declaration, template, name, group)) not in self.seen:
                return row
        return None
