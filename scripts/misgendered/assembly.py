"""MISGENDERED's instances: templates with names, pronoun groups and declarations (section 3.1 of the paper).

An instance is a text that declares a person's pronouns and then has a slot for one of them. Its options are the forms
that the run's pronoun groups have in the slot, in the configured order; where groups share a form (*em* of e and ey),
it is one option, and right for all of them: ``groups`` names each option's group, ``e/ey`` where two share it.

The full set of one declaration has a row for each template, name and group; the group varies fastest, then the name.
So a row's number says what it is (:meth:`Instances.rows`), and any rows can be made without the others.

The parts of an instance's id (:mod:`scripts.core.data.instances`) are the study, the text, the options and the gold
form. Two declarations may say the same: he, thon and co have one form for both possessives, so that 31 is 32 for them,
and 41 is 42. Such rows are one instance, with one id, which is scored once and counts for both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from scripts.core.data import instances as instance_files
from scripts.core.data import options
from scripts.core.data.templates import PronounSet
from scripts.misgendered import declarations as declaring
from scripts.misgendered import study
from scripts.misgendered import templates as template_files

if TYPE_CHECKING:
    import pyarrow

COLUMNS = (
    "instance_id", "text", "options", "groups", "gold", "form", "group", "pronoun_type", "name", "name_class",
    "template_index", "declaration", "declaration_type", "declaration_number", "wording", "sentence_initial", "shots",
    "draw", "template_row", "name_file", "name_row", "pronoun_rows", "declaration_row",
)  # fmt: skip
"""What every file of instances has; the last say which lines an instance was made from."""
NUMBERS = ("template_index", "declaration_number", "shots", "draw", "template_row", "name_row", "declaration_row")
CHOICES = ("declaration", "template", "name", "group")
"""Columns of the choices behind some instances: positions in the lists of declarations, templates, names, groups."""
SEPARATOR = "/"
"""Stands between the groups of a shared form."""
BATCH = 1 << 16
"""Rows that are held at once."""


def schema() -> "pyarrow.Schema":
    """Return the Arrow schema of files of instances; on disk dictionaries become plain columns."""
    import pyarrow as pa

    texts = pa.list_(pa.string())
    kinds = {
        "instance_id": pa.string(), "text": pa.string(), "options": texts, "groups": texts,
        "sentence_initial": pa.bool_(), "pronoun_rows": pa.list_(pa.int16()), **dict.fromkeys(NUMBERS, pa.int16()),
    }  # fmt: skip
    return pa.schema([(name, kinds.get(name, pa.dictionary(pa.int16(), pa.string()))) for name in COLUMNS])


@dataclass(frozen=True)
class Instances:
    """All instances of a run's templates, names, groups and declarations, addressed by declaration and row.

    Attributes:
        names: As :func:`scripts.misgendered.names.read_replica` returns them.
        groups: Group to its forms (:func:`scripts.misgendered.study.select_groups`).
        group_rows: The line of each group in templates/pronouns.tsv.
        origins: As :mod:`scripts.core.provenance.origins` reads it.
    """

    templates: template_files.Templates
    names: list[dict]
    groups: dict[str, PronounSet]
    declarations: Sequence[declaring.Declaration]
    wording: str
    group_rows: list[int]
    origins: dict[str, str]

    @property
    def size(self) -> int:
        """The rows of the full set of one declaration: 275,000 with the paper's 50 templates, 500 names, 11 groups."""
        return len(self.templates.rows) * len(self.names) * len(self.groups)

    def reworded(self) -> "Instances":
        """Return the same instances in the other wording of declarations."""
        return replace(self, wording=study.other_wording(self.wording))

    def metadata(self, **settings: Any) -> dict[str, Any]:
        """Return the metadata of a file of instances that were made with ``settings``."""
        return {
            "study": study.STUDY,
            "templates": self.templates.name,
            "pronoun_groups": list(self.groups),
            "wording": self.wording,
            **settings,
            "origins": self.origins,
        }

    def rows(self, declaration: int, rows: np.ndarray) -> pd.DataFrame:
        """Return the choices (:data:`CHOICES`) behind rows of the full set of the declaration at a position."""
        rest, group = np.divmod(rows, len(self.groups))
        template, name = np.divmod(rest, len(self.names))
        return pd.DataFrame({"declaration": declaration, "template": template, "name": name, "group": group})

    def full(self, declaration: int) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the full set of the declaration at a position, a few instances at a time."""
        for start in range(0, self.size, BATCH):
            yield from self.batches(self.rows(declaration, np.arange(start, min(start + BATCH, self.size))))

    def batches(self, choices: pd.DataFrame, size: int = BATCH) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the instances that some choices make, ``size`` at a time."""
        import pyarrow as pa

        for start in range(0, len(choices), size):
            made = self.table(choices.iloc[start : start + size])
            yield pa.RecordBatch.from_pandas(made, schema(), preserve_index=False)

    def texts(self, choices: pd.DataFrame) -> list[str]:
        """Return the texts that some choices make, with their slot."""
        names, groups = [entry["name"] for entry in self.names], self.groups.values()
        declared = [[declaring.declared_forms(way, forms) for forms in groups] for way in self.declarations]
        return [
            self._patterns[way][template]
            .replace(declaring.NAME, names[name])
            .replace(declaring.DECLARED_SLOT, declared[way][group])
            for way, template, name, group in choices[[*CHOICES]].itertuples(index=False)
        ]

    def table(
        self, choices: pd.DataFrame, before: Sequence[str] | None = None, shots: int = 0, draw: np.ndarray | int = 0
    ) -> pd.DataFrame:
        """Return the instances that some choices make (:data:`COLUMNS`).

        Args:
            before: What stands before each text, such as examples.
            shots, draw: How many examples there are, and which draw of them.
        """
        texts = self.texts(choices)
        if before is not None:
            texts = [first + text for first, text in zip(before, texts, strict=True)]
        parts = [table.iloc[choices[name]].reset_index(drop=True) for name, table in self._facts.items()]
        table = pd.concat(parts, axis=1)
        gold = [self.groups[group][form] for group, form in zip(table.group, table["form"], strict=True)]
        offers, offered = pd.factorize(table.options.str.join("|"))
        golds, distinct = pd.factorize(np.array(gold, dtype=object))
        ids = instance_files.content_ids(
            [
                (instance_files.digest_parts([study.STUDY]), None),
                (instance_files.digest_parts(texts), np.arange(len(texts))),
                (instance_files.digest_parts(offered), offers),
                (instance_files.digest_parts(distinct), golds),
            ]
        )
        table = table.assign(
            instance_id=instance_files.format_ids(ids).to_pylist(), text=texts, gold=gold, wording=self.wording,
            shots=shots, draw=draw, pronoun_rows=pd.Series([np.array(self.group_rows, dtype=np.int16)] * len(table)),
        )  # fmt: skip
        return table[[*COLUMNS]].astype(dict.fromkeys(NUMBERS, np.int16))

    @cached_property
    def _patterns(self) -> list[list[str]]:
        """The texts with the slots of declarations, by declaration and template."""
        released = self.templates.released if self.wording == "faithful" else {}
        return [
            released.get((way.kind, way.number))
            or [declaring.pattern(way.kind, template.text, self.wording) for template in self.templates.rows]
            for way in self.declarations
        ]

    @cached_property
    def _facts(self) -> dict[str, pd.DataFrame]:
        """What instances have of each of their :data:`CHOICES`."""
        offers = {form: options.candidate_forms(self.groups, form) for form in study.FORMS}
        joined = {form: [SEPARATOR.join(groups) for groups in offer.values()] for form, offer in offers.items()}
        texts = [
            (t.form, list(offers[t.form]), joined[t.form], template_files.sentence_initial(t.text), t.index, t.row)
            for t in self.templates.rows
        ]
        ways = [(way.name, way.kind, way.number, way.row) for way in self.declarations]
        names = [(one["name"], one["name_class"], one["file"], one["row"]) for one in self.names]
        types = [(group, forms.type) for group, forms in self.groups.items()]
        template = ["form", "options", "groups", "sentence_initial", "template_index", "template_row"]
        way = ["declaration", "declaration_type", "declaration_number", "declaration_row"]
        return {
            "declaration": pd.DataFrame(ways, columns=way),
            "template": pd.DataFrame(texts, columns=template),
            "name": pd.DataFrame(names, columns=["name", "name_class", "name_file", "name_row"]),
            "group": pd.DataFrame(types, columns=["group", "pronoun_type"]),
        }
