"""MISGENDERED's instances: templates with names, pronoun groups and declarations (section 3.1 of the paper).

An instance is a text that declares a person's pronouns and then has a slot for one of them. Its options are the forms
that the run's pronoun groups have in the slot, in the configured order; where groups share a form (*em* of e and ey),
it is one option, and right for all of them: ``groups`` names each option's group, ``e/ey`` where two share it.

An instance is made from four choices (:data:`CHOICES`), without the others: there are 3.3 million.

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
    """All instances of a run's templates, names, groups and declarations, made from :data:`CHOICES`.

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
    def shape(self) -> tuple[int, ...]:
        """How many there are of each of :data:`CHOICES`: 12, 50, 500 and 11 in the paper, so 3.3 million instances."""
        return len(self.declarations), len(self.templates.rows), len(self.names), len(self.groups)

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

    def batches(self, choices: pd.DataFrame, size: int = BATCH) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the instances that some choices make, ``size`` at a time."""
        for start in range(0, len(choices), size):
            yield self.batch(choices.iloc[start : start + size])

    def batch(
        self, choices: pd.DataFrame, before: Sequence[str] | None = None, shots: int = 0, draws: int = 1
    ) -> "pyarrow.RecordBatch":
        """Return the instances that some choices make (:func:`schema`).

        Args:
            before: What stands before each text, such as examples.
            shots, draws: How many examples there are, and how often they are drawn; the draw varies fastest.
        """
        import pyarrow as pa

        texts = self.texts(choices)
        if before is not None:
            texts = [first + text for first, text in zip(before, texts, strict=True)]
        positions = {name: choices[name].to_numpy() for name in CHOICES}
        positions["gold"] = positions["template"] * len(self.groups) + positions["group"]
        positions["run"] = np.zeros(len(texts), dtype=int)
        ids = instance_files.content_ids(
            [
                (instance_files.digest_parts([study.STUDY]), None),
                (instance_files.digest_parts(texts), np.arange(len(texts))),
                (instance_files.digest_parts(map("|".join, self._facts["template"]["options"])), positions["template"]),
                (instance_files.digest_parts(self._facts["gold"]["gold"]), positions["gold"]),
            ]
        )
        columns = {
            "instance_id": instance_files.format_ids(ids),
            "text": pa.array(texts, pa.string()),
            "shots": pa.array(np.full(len(texts), shots, dtype=np.int16)),
            "draw": pa.array((np.arange(len(texts)) % draws).astype(np.int16)),
        }
        for part, facts in self._facts.items():
            for name, values in facts.items():
                kind = schema().field(name).type
                if pa.types.is_dictionary(kind):
                    columns[name] = instance_files.encode_dictionary(values, positions[part])
                else:
                    columns[name] = pa.array(values, kind).take(pa.array(positions[part]))
        return pa.RecordBatch.from_arrays([columns[name] for name in COLUMNS], schema=schema())

    def table(self, choices: pd.DataFrame, **before: Any) -> pd.DataFrame:
        """Return the instances that some choices make as a table of plain texts; arguments of :meth:`batch`."""
        table = self.batch(choices, **before).to_pandas()
        return table.astype(dict.fromkeys(table.select_dtypes("category"), str))

    def texts(self, choices: pd.DataFrame) -> list[str]:
        """Return the texts that some choices make, with their slot."""
        names, groups = [entry["name"] for entry in self.names], self.groups.values()
        declared = [
            [declaring.declared_forms(declaration, forms) for forms in groups] for declaration in self.declarations
        ]
        return [
            self._patterns[declaration][template]
            .replace(declaring.NAME, names[name])
            .replace(declaring.DECLARED_SLOT, declared[declaration][group])
            for declaration, template, name, group in zip(*(choices[of].tolist() for of in CHOICES), strict=True)
        ]

    @cached_property
    def _patterns(self) -> list[list[str]]:
        """The texts with the slots of declarations, by declaration and template."""
        released = self.templates.released if self.wording == "faithful" else {}
        return [
            released.get((declaration.kind, declaration.number))
            or [
                declaring.add_declaration(declaration.kind, template.text, self.wording)
                for template in self.templates.rows
            ]
            for declaration in self.declarations
        ]

    @cached_property
    def _facts(self) -> dict[str, dict[str, list]]:
        """What instances have of each of their :data:`CHOICES`, of template and group together, and of the run."""
        offers = {form: options.candidate_forms(self.groups, form) for form in study.FORMS}
        joined = {form: [SEPARATOR.join(groups) for groups in offer.values()] for form, offer in offers.items()}
        declarations, texts, names = self.declarations, self.templates.rows, self.names
        return {
            "declaration": {
                "declaration": [one.name for one in declarations],
                "declaration_type": [one.kind for one in declarations],
                "declaration_number": [one.number for one in declarations],
                "declaration_row": [one.row for one in declarations],
            },
            "template": {
                "form": [text.form for text in texts], "options": [list(offers[text.form]) for text in texts],
                "groups": [joined[text.form] for text in texts], "template_index": [text.index for text in texts],
                "sentence_initial": [template_files.sentence_initial(text.text) for text in texts],
                "template_row": [text.row for text in texts],
            },
            "name": {
                "name": [one["name"] for one in names], "name_class": [one["name_class"] for one in names],
                "name_file": [one["file"] for one in names], "name_row": [one["row"] for one in names],
            },
            "group": {"group": list(self.groups), "pronoun_type": [forms.type for forms in self.groups.values()]},
            "gold": {"gold": [forms[text.form] for text in texts for forms in self.groups.values()]},
            "run": {"wording": [self.wording], "pronoun_rows": [self.group_rows]},
        }  # fmt: skip
