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

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scripts.core.data import instances as instance_files
from scripts.core.data import options, templates
from scripts.core.data.templates import PronounSet
from scripts.core.errors import UserError
from scripts.misgendered.lib import declarations as declaring
from scripts.misgendered.lib import names as naming
from scripts.misgendered.lib import study
from scripts.misgendered.lib import templates as template_files

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


def load(
    files: dict[str, str],
    pronouns: str,
    groups: Sequence[str],
    combinations: str,
    types: Sequence[str],
    numbers: Sequence[int],
    wording: str,
) -> "Instances":
    """Read and check everything that instances are made from.

    Args:
        files: ``templates`` and ``names`` of the replica; or of the authors' files ``templates``, the classes of names,
            and the templates with declarations by their names, such as ``explicit_31``.
        pronouns: templates/pronouns.tsv.
        groups: The configured pronoun groups, in order.
        combinations: templates/misgendered/declarations.tsv.
        types, numbers: The configured declarations.
        wording: ``corrected`` or ``faithful`` (:mod:`scripts.misgendered.lib.declarations`).

    Raises:
        UserError: For the first problem of any of the files, and for configured groups or declarations that they do not
            have.
    """
    known = templates.read_pronouns(pronouns)
    selected = study.select_groups(known, groups)
    lines = templates.pronoun_lines(pronouns)
    combined = declaring.read(combinations)
    ways = declaring.select(combined, types, numbers, combinations)
    if "names" in files:
        texts = template_files.read_replica(files["templates"], known)
        names = naming.read_replica(files["names"])
        name_files: dict[str, str] = dict.fromkeys(study.NAME_CLASSES, files["names"])
    else:
        released = {
            (kind, number): files[study.declaration(kind, number)]
            for kind in study.DECLARATION_TYPES
            for number in combined
            if study.declaration(kind, number) in files
        }
        texts = template_files.read_official(files["templates"], released)
        name_files = {name_class: files[name_class] for name_class in study.NAME_CLASSES}
        names = naming.read_official(name_files)
    origins = {
        "template_row": Path(texts.file).name,
        "name_row": "{name_file}" if len(set(name_files.values())) > 1 else Path(files["names"]).name,
        "pronoun_rows": Path(pronouns).name,
        "declaration_row": Path(combinations).name,
    }
    return Instances(texts, names, selected, ways, wording, [lines[group] for group in selected], name_files, origins)


class Instances:
    """All instances of a run's templates, names, groups and declarations, addressed by declaration and row.

    Args:
        names: As :func:`scripts.misgendered.lib.names.read_replica` returns them.
        groups: Group to its forms (:func:`scripts.misgendered.lib.study.select_groups`).
        group_rows: The line of each group in templates/pronouns.tsv.
        name_files: Class of names to the file that has them.
        origins: As :mod:`scripts.core.provenance.origins` reads it.
    """

    def __init__(
        self,
        texts: template_files.Templates,
        names: list[dict],
        groups: dict[str, PronounSet],
        ways: Sequence[declaring.Declaration],
        wording: str,
        group_rows: list[int],
        name_files: Mapping[str, str],
        origins: dict[str, str],
    ):
        self.templates, self.names, self.groups, self.declarations = texts, names, groups, ways
        self.wording = wording
        self._group_rows, self._name_files, self._origins = group_rows, name_files, origins

    @property
    def size(self) -> int:
        """The rows of the full set of one declaration: 275,000 with the paper's 50 templates, 500 names, 11 groups."""
        return len(self.templates.rows) * len(self.names) * len(self.groups)

    def reworded(self) -> "Instances":
        """Return the same instances in the other wording of declarations."""
        other = study.other_wording(self.wording)
        rest = (self._group_rows, self._name_files, self._origins)
        return Instances(self.templates, self.names, self.groups, self.declarations, other, *rest)

    def metadata(self, **settings: Any) -> dict[str, Any]:
        """Return the metadata of a file of instances that were made with ``settings``."""
        return {
            "study": study.STUDY,
            "templates": self.templates.name,
            "pronoun_groups": list(self.groups),
            "wording": self.wording,
            **settings,
            "origins": self._origins,
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
        """Yield the full set of one declaration, one batch with :meth:`schema` for each template."""
        per_template = self.size // len(self.templates.rows)
        for start in range(0, self.size, per_template):
            yield self.batch(self.rows(declaration, np.arange(start, start + per_template)))

    def batches(self, codes: Codes, rows_per_batch: int = 1 << 16) -> "Iterator[pyarrow.RecordBatch]":
        """Yield the instances that some choices make in batches, so that a large sample need not be held at once."""
        for start in range(0, len(codes), rows_per_batch):
            yield self.batch(codes.take(slice(start, start + rows_per_batch)))

    def batch(self, codes: Codes) -> "pyarrow.RecordBatch":
        """Return the instances that some choices make, with :meth:`schema`."""
        import pyarrow as pa

        return pa.RecordBatch.from_arrays(list(self.columns(codes, self.texts(codes)).values()), schema=self.schema())

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
        """Return the columns of instances, by the names in :meth:`schema`.

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
        types = np.array([study.TYPES.index(forms.type) for forms in self.groups.values()])[codes.group]
        kinds = np.array([study.DECLARATION_TYPES.index(way.kind) for way in self.declarations])[codes.declaration]
        name_files = [Path(self._name_files[name_class]).name for name_class in study.NAME_CLASSES]
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
        import re

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

        return pa.array([self._group_rows], pa.list_(pa.int16()))

    @staticmethod
    def schema() -> "pyarrow.Schema":
        """Return the Arrow schema of files of instances; on disk dictionaries become plain columns."""
        import pyarrow as pa

        word = pa.dictionary(pa.int16(), pa.string())
        kinds = dict.fromkeys(COLUMNS, word) | {
            "instance_id": pa.string(),
            "text": pa.string(),
            "options": pa.list_(word),
            "groups": pa.list_(word),
            "template_index": pa.int16(),
            "declaration_number": pa.int16(),
            "sentence_initial": pa.bool_(),
            "shots": pa.int16(),
            "draw": pa.int16(),
        }
        lines = {"template_row": pa.int16(), "name_file": word, "name_row": pa.int16()}
        lines |= {"pronoun_rows": pa.list_(pa.int16()), "declaration_row": pa.int16()}
        return pa.schema(kinds | lines)


def check_size(size: int, available: int, key: str) -> None:
    """Refuse a sample that is larger than everything there is.

    Raises:
        UserError: Naming the key of the configuration.
    """
    if size > available:
        raise UserError(f"misgendered.{key} is {size}, but there are {available} instances; use at most {available}")


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
