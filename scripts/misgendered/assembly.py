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

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

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
    "draw",
)  # fmt: skip
"""What every file of instances has; behind them come the columns that say which lines they were made from."""

SEPARATOR = "/"
"""Stands between the groups of a shared form."""


@dataclass(frozen=True)
class Codes:
    """Choices behind some rows: positions in the lists of declarations, templates, names and groups."""

    declaration: np.ndarray
    template: np.ndarray
    name: np.ndarray
    group: np.ndarray

    def __len__(self) -> int:
        return len(self.template)

    def take(self, rows: np.ndarray | slice) -> "Codes":
        """Return the choices behind some of the rows."""
        return Codes(self.declaration[rows], self.template[rows], self.name[rows], self.group[rows])


@dataclass(frozen=True)
class Instances:
    """All instances of a run's templates, names, groups and declarations, addressed by declaration and row.

    Attributes:
        names: As :func:`scripts.misgendered.names.read_replica` returns them.
        groups: Group to its forms (:func:`scripts.misgendered.study.select_groups`).
        group_rows: The line of each group in templates/pronouns.tsv.
        name_files: Class of names to the file that has them.
        origins: As :mod:`scripts.core.provenance.origins` reads it.
    """

    templates: template_files.Templates
    names: list[dict]
    groups: dict[str, PronounSet]
    declarations: Sequence[declaring.Declaration]
    wording: str
    group_rows: list[int]
    name_files: Mapping[str, str]
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

    def rows(self, declaration: int, rows: np.ndarray) -> Codes:
        """Return the choices behind rows of a full set.

        Args:
            declaration: Position in the list of declarations.
            rows: Shape (k,), of int.

        Raises:
            IndexError: For a row that the full set does not have.
        """
        rows = np.asarray(rows, dtype=np.int64)
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.size:
            raise IndexError(f"rows of the full set go from 0 to {self.size - 1}")
        rest, group = np.divmod(rows, len(self.groups))
        template, name = np.divmod(rest, len(self.names))
        return Codes(np.full(len(rows), declaration), template, name, group)

    def full(self, declaration: int) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the full set of one declaration, one batch for each template."""
        per_template = self.size // len(self.templates.rows)
        for start in range(0, self.size, per_template):
            yield self.batch(self.rows(declaration, np.arange(start, start + per_template)))

    def batches(self, codes: Codes, rows_per_batch: int = 1 << 16) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the instances that some choices make in batches, so that a large sample need not be held at once."""
        for start in range(0, len(codes), rows_per_batch):
            yield self.batch(codes.take(slice(start, start + rows_per_batch)))

    def batch(self, codes: Codes) -> "pyarrow.RecordBatch":
        """Return the instances that some choices make."""
        import pyarrow as pa

        return pa.RecordBatch.from_pydict(self.columns(codes, self.texts(codes)))

    @cached_property
    def schema(self) -> "pyarrow.Schema":
        """The Arrow schema of files of instances; on disk dictionaries become plain columns."""
        return self.batch(Codes(*np.zeros((4, 0), dtype=int))).schema

    def texts(self, codes: Codes) -> "pyarrow.Array":
        """Return the texts that some choices make, with their slot."""
        import pyarrow as pa
        import pyarrow.compute as pc

        which = codes.declaration * len(self.templates.rows) + codes.template
        order = np.argsort(which, kind="stable")
        parts = []
        starts = np.flatnonzero(np.diff(which[order], prepend=-1))
        for chosen in np.split(order, starts[1:]) if len(order) else []:
            first = chosen[0]
            fills = {
                declaring.NAME: self._name_texts.take(pa.array(codes.name[chosen])),
                declaring.DECLARED_SLOT: self._declared[codes.declaration[first]].take(pa.array(codes.group[chosen])),
            }
            pieces = [fills.get(piece, pa.scalar(piece)) for piece in self._patterns[which[first]]]
            parts.append(pc.binary_join_element_wise(*pieces, ""))
        if not parts:
            return pa.array([], pa.string())
        joined = pa.concat_arrays(parts)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return joined if (back == np.arange(len(back))).all() else joined.take(pa.array(back))

    def form(self, codes: Codes) -> np.ndarray:
        """Return the position of each row's form in the study's list of forms."""
        return self._template_forms[codes.template]

    def gold(self, codes: Codes) -> np.ndarray:
        """Return each row's gold form, of str."""
        return np.array(self._flat_forms, dtype=object)[self.form(codes) * len(self.groups) + codes.group]

    def columns(
        self, codes: Codes, texts: "pyarrow.Array", shots: np.ndarray | None = None, draws: np.ndarray | None = None
    ) -> "dict[str, pyarrow.Array]":
        """Return the columns of instances by name: :data:`COLUMNS`, and the lines of the files that they are made from.

        Args:
            texts: Of :meth:`texts`, or these with something before them, such as examples. Of str.
            shots, draws: How many examples there are, and which draw of them; none without it. Of int.
        """
        import pyarrow as pa

        rows = len(codes)
        form = self.form(codes)
        gold = form * len(self.groups) + codes.group
        which = codes.declaration * len(self.templates.rows) + codes.template
        ids = instance_files.content_ids(
            [
                (instance_files.digests([study.STUDY]), None),
                (instance_files.digests(texts.to_pylist()), np.arange(rows)),
                (instance_files.digests("|".join(offer) for offer in self._offers.values()), form),
                (instance_files.digests(self._flat_forms), gold),
            ]
        )
        classes = np.array([study.NAME_CLASSES.index(entry["name_class"]) for entry in self.names])[codes.name]
        types = np.array([list(study.TYPES).index(forms.type) for forms in self.groups.values()])[codes.group]
        ways = list(study.DECLARATION_TYPES)
        kinds = np.array([ways.index(way.kind) for way in self.declarations])[codes.declaration]
        name_files = [Path(self.name_files[name_class]).name for name_class in study.NAME_CLASSES]
        taken = pa.array(form)
        return {
            "instance_id": instance_files.hexadecimal(ids),
            "text": texts,
            "options": self._option_lists.take(taken),
            "groups": self._group_lists.take(taken),
            "gold": instance_files.dictionary(self._flat_forms, gold),
            "form": instance_files.dictionary(study.FORMS, form),
            "group": instance_files.dictionary(self.groups, codes.group),
            "pronoun_type": instance_files.dictionary(study.TYPES, types),
            "name": instance_files.dictionary([entry["name"] for entry in self.names], codes.name),
            "name_class": instance_files.dictionary(study.NAME_CLASSES, classes),
            "template_index": _whole([t.index for t in self.templates.rows], codes.template),
            "declaration": instance_files.dictionary([way.name for way in self.declarations], codes.declaration),
            "declaration_type": instance_files.dictionary(study.DECLARATION_TYPES, kinds),
            "declaration_number": _whole([way.number for way in self.declarations], codes.declaration),
            "wording": instance_files.dictionary([self.wording], np.zeros(rows, dtype=int)),
            "sentence_initial": pa.array(self._initial[which]),
            "shots": _whole([0], np.zeros(rows, dtype=int)) if shots is None else pa.array(shots, pa.int16()),
            "draw": _whole([0], np.zeros(rows, dtype=int)) if draws is None else pa.array(draws, pa.int16()),
            "template_row": _whole([t.row for t in self.templates.rows], codes.template),
            "name_file": instance_files.dictionary(name_files, classes),
            "name_row": _whole([entry["row"] for entry in self.names], codes.name),
            "pronoun_rows": self._row_lists.take(pa.array(np.zeros(rows, dtype=int))),
            "declaration_row": _whole([way.row for way in self.declarations], codes.declaration),
        }

    @cached_property
    def _patterns(self):
        """The pieces of each text, by declaration and template."""
        texts = self.templates
        patterns = []
        for way in self.declarations:
            released = texts.released.get((way.kind, way.number)) if self.wording == "faithful" else None
            made = released or [declaring.pattern(way.kind, t.text, self.wording) for t in texts.rows]
            split = re.compile("(" + "|".join(map(re.escape, (declaring.NAME, declaring.DECLARED_SLOT))) + ")")
            patterns += [[piece for piece in split.split(text) if piece] for text in made]
        return patterns

    @cached_property
    def _initial(self):
        return np.array([template_files.sentence_initial("".join(pieces)) for pieces in self._patterns])

    @cached_property
    def _name_texts(self):
        import pyarrow as pa

        return pa.array([entry["name"] for entry in self.names], pa.string())

    @cached_property
    def _declared(self):
        import pyarrow as pa

        return [
            pa.array([declaring.declared_forms(way, forms) for forms in self.groups.values()])
            for way in self.declarations
        ]

    @cached_property
    def _template_forms(self):
        return np.array([list(study.FORMS).index(template.form) for template in self.templates.rows])

    @cached_property
    def _flat_forms(self):
        return [forms[form] for form in study.FORMS for forms in self.groups.values()]

    @cached_property
    def _offers(self):
        """Each form's options with the groups that they belong to."""
        return {form: options.candidate_forms(self.groups, form) for form in study.FORMS}

    @cached_property
    def _option_lists(self):
        return _lists(list(self._offers.values()))

    @cached_property
    def _group_lists(self):
        return _lists([[SEPARATOR.join(groups) for groups in offer.values()] for offer in self._offers.values()])

    @cached_property
    def _row_lists(self):
        import pyarrow as pa

        return pa.array([self.group_rows], pa.list_(pa.int16()))


def _whole(values: Sequence[int], codes: np.ndarray):
    import pyarrow as pa

    return pa.array(np.array(values, dtype=np.int16)[codes])


def _lists(lists: Collection[Collection[str]]):
    """Return an Arrow list array whose texts are dictionary-encoded."""
    import pyarrow as pa

    flat = pa.array([value for values in lists for value in values], pa.string()).dictionary_encode()
    indices = pa.DictionaryArray.from_arrays(flat.indices.cast(pa.int16()), flat.dictionary)
    offsets = np.cumsum([0, *(len(values) for values in lists)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), indices)
