"""RUFF's instances: narratives assembled from checked templates (Gautam et al. 2024).

Assembly (section 3.2 and Appendix B; where the paper is silent, the order is that of the authors' generator, because
it decides what a seed draws):

- An instance is an introduction, ``n`` distractor sentences and a task sentence, all in the task's case, joined by one
  blank. The introduction is an explicit context template about the occupation, with the gold pronoun.
- The first distractor is an explicit template about the participant, with another pronoun, of the polarity opposite
  to the introduction's and with another theme. Later distractors are implicit templates with the pronoun and the
  polarity of the first one; its theme is out, the introduction's is in again; they are drawn without replacement, in
  every order.
- Context sentences get an initial capital; the task sentence stays as it is, with its slot ``___``. Blanks at the end
  of an official template stay, because they are part of the texts that were scored.
- Order of rows: task sentences in file order; introductions in file order; gold pronouns as configured; first
  distractors in file order; distractor pronouns as configured; permutations of the later distractors in lexicographic
  order of their positions. Every later item varies faster.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from scripts.core.data import instances
from scripts.core.data.options import SLOT
from scripts.core.data.templates import CASES, pronoun_lines, read_pronouns, select_pronoun_sets
from scripts.core.errors import UserError
from scripts.ruff.template_checks import read_checked
from scripts.ruff.templates import ORIGINS, PERSON, PLACEHOLDERS, POLARITIES, PRONOUN, THEMES, Templates

STUDY = "ruff"
INTRODUCTIONS = THEMES * len(POLARITIES)
MAX_DISTRACTORS = THEMES
WORD = pa.dictionary(pa.int16(), pa.string())


def load(templates: Sequence[str], pronouns: str, pronoun_sets: Sequence[str]) -> "Narratives":
    """Read and check the template files and ``pronouns.tsv`` of a job; return the narratives of its pronoun sets."""
    sets = select_pronoun_sets(read_pronouns(pronouns), pronoun_sets)
    selected = read_checked(templates, sets)
    return Narratives(replace(selected, pronouns_file=str(pronouns), pronoun_rows=pronoun_lines(pronouns)), sets)


def full_size(n_distractors: int, n_sets: int, n_tasks: int) -> int:
    """Return the number of instances of a full set (Table 1: 7,200 to 2,073,600 with 4 sets and 180 tasks)."""
    return n_tasks * math.prod(_radices(n_distractors, n_sets))


def _radices(n_distractors: int, n_sets: int):
    """Numbers of choices below a task: introduction, gold and, with distractors, template, pronoun, permutation."""
    if not 0 <= n_distractors <= MAX_DISTRACTORS:
        raise UserError(f"ruff.distractors: {n_distractors} distractors are not possible; use 0 to {MAX_DISTRACTORS}")
    if not n_distractors:
        return (INTRODUCTIONS, n_sets)
    return (INTRODUCTIONS, n_sets, THEMES - 1, n_sets - 1, math.perm(THEMES - 1, n_distractors - 1))


class Narratives:
    """All instances of one template set and one list of pronoun sets, addressed by their row in generation order.

    Args:
        sets: The configured pronoun sets (:func:`scripts.core.data.templates.select_pronoun_sets`).
    """

    def __init__(self, templates: Templates, sets: dict):
        self.templates = templates
        self.sets = dict(sets)
        self.forms = {case: [forms[case] for forms in sets.values()] for case in CASES}
        self._flat_forms = [form for case in CASES for form in self.forms[case]]
        self._task_cases = np.array([CASES.index(task.case) for task in templates.tasks])
        self._task_sentences = _Sentences(task.sentence.replace(PRONOUN, SLOT) for task in templates.tasks)
        self._introductions, self._first_distractors = (
            _Sentences(
                _context_sentence(context.explicit, form, getattr(task, role))
                for task in templates.tasks
                for context in templates.contexts[task.case]
                for form in self.forms[task.case]
            )
            for role in ("occupation", "participant")
        )
        self._implicit = _Sentences(
            _context_sentence(context.implicit, form)
            for case in CASES
            for context in templates.contexts[case]
            for form in self.forms[case]
        )

    def metadata(self, **settings: Any) -> dict[str, Any]:
        """Return the metadata of a file of instances that were made with ``settings``."""
        return {
            "study": STUDY,
            "templates": self.templates.name,
            "pronoun_sets": list(self.sets),
            **settings,
            "origins": self.templates.origins(),
        }

    def full_size(self, n_distractors: int) -> int:
        """Return the number of rows of the full set."""
        return full_size(n_distractors, len(self.sets), len(self.templates.tasks))

    def table(self, n_distractors: int, rows: np.ndarray) -> pa.RecordBatch:
        """Return the instances at ``rows`` of the full set in generation order, with :func:`schema`."""
        codes = self._decode(n_distractors, np.asarray(rows, dtype=np.int64))
        parts = self._sentences(codes)
        case = self._task_cases[codes["task"]]
        gold = case * len(self.sets) + codes["gold"]
        columns = {
            "instance_id": self._ids(parts, case, gold),
            "text": _join(parts),
            "options": self._options(case),
            "gold": instances.encode_dictionary(self._flat_forms, gold),
            **self._task_columns(codes["task"], case),
            "pronoun": instances.encode_dictionary(self.sets, codes["gold"]),
            "distractor_pronoun": instances.encode_dictionary(self.sets, codes.get("distractor"), len(rows)),
            "n_distractors": pa.array(np.full(len(rows), n_distractors, dtype=np.int8)),
            "task_index": pa.array(codes["task"].astype(np.int16)),
            "introduction_index": pa.array(codes["introduction"].astype(np.int8)),
            "distractor_indices": _lists(codes["indices"]),
            "polarity": instances.encode_dictionary(POLARITIES, codes["introduction"] // THEMES),
            **self._origin_columns(codes["task"], np.column_stack([codes["introduction"], codes["indices"]])),
        }
        return pa.RecordBatch.from_arrays(list(columns.values()), schema=schema())

    def context_free(self) -> pa.Table:
        """Return the task sentences without context, one row each, as a table with :func:`sample_schema`."""
        tasks = np.arange(len(self.templates.tasks))
        case = self._task_cases
        columns = {
            "instance_id": self._ids([(self._task_sentences, tasks)], case, None),
            "text": _join([(self._task_sentences, tasks)]),
            "options": self._options(case),
            **self._task_columns(tasks, case),
            "task_index": pa.array(tasks.astype(np.int16)),
            **self._origin_columns(tasks, np.zeros((len(tasks), 0), dtype=np.int64)),
        }
        kinds = sample_schema()
        arrays = [
            columns[field.name].cast(field.type) if field.name in columns else pa.nulls(len(tasks), field.type)
            for field in kinds
        ]
        return pa.Table.from_arrays(arrays, schema=kinds)

    def full(self, n_distractors: int, rows_per_batch: int = 115_200) -> Iterator[pa.RecordBatch]:
        """Yield the full set in generation order, in batches of about ``rows_per_batch`` rows."""
        total = self.full_size(n_distractors)
        for start in range(0, total, rows_per_batch):
            yield self.table(n_distractors, np.arange(start, min(start + rows_per_batch, total)))

    def sample(self, n_distractors: int, seed: int) -> pa.Table:
        """Draw the sample of one seed without making the full set (section 3.2).

        The rows are those of ``full.groupby([occupation, case, gold, distractor form]).sample(n=k,
        random_state=seed)`` in pandas, in the same order: groups sorted by occupation, the authors' name of the case
        (:data:`PLACEHOLDERS`), gold form and, with distractors, distractor form; in each group ``k`` rows by
        ``RandomState(seed).choice`` without replacement from the rows in generation order. With P pronoun sets,
        ``k`` is 1 with distractors and P - 1 without, so that every sample has P (P - 1) rows for each task sentence:
        2,160 with four sets.

        The table has :func:`sample_schema`. More pronoun sets than a group without distractors has rows are refused.
        """
        rows = self.sample_rows(n_distractors, seed)
        table = pa.Table.from_batches([self.table(n_distractors, rows)])
        kinds = sample_schema()
        columns = [table[name].combine_chunks().cast(kinds.field(name).type) for name in table.column_names]
        columns.append(pa.array(np.full(len(rows), seed, dtype=np.int64)))
        return pa.Table.from_arrays(columns, schema=kinds)

    def sample_rows(self, n_distractors: int, seed: int) -> np.ndarray:
        """Return the rows of the full set that :meth:`sample` draws, in its order."""
        sets = len(self.sets)
        introductions, _, *below = _radices(n_distractors, sets)
        per_group = 1 if n_distractors else sets - 1
        templates, distractors, permuted = below or (1, 1, 1)
        size = introductions * templates * permuted
        if per_group > size:
            raise UserError(
                f"pronoun_sets: {sets} sets need {per_group} different introductions in each sample and there are "
                f"{size}; configure at most {size + 1} sets"
            )
        groups = []
        for index, task in enumerate(self.templates.tasks):
            forms = self.forms[task.case]
            for gold, form in enumerate(forms):
                key = (task.occupation, PLACEHOLDERS[task.case], form)
                if not n_distractors:
                    groups.append((key, index, gold, 0))
                    continue
                others = [other for i, other in enumerate(forms) if i != gold]
                groups += [((*key, other), index, gold, i) for i, other in enumerate(others)]
        groups.sort(key=lambda group: group[0])
        random = np.random.RandomState(seed)
        drawn = np.concatenate([random.choice(size, size=per_group, replace=False) for _ in groups])
        task, gold, distractor = np.repeat(np.array([group[1:] for group in groups]), per_group, axis=0).T
        rest, permutation = np.divmod(drawn, permuted)
        introduction, template = np.divmod(rest, templates)
        row = (task * introductions + introduction) * sets + gold
        return ((row * templates + template) * distractors + distractor) * permuted + permutation

    # What follows turns row numbers into codes and codes into columns; repeated texts are made once and taken.

    def _decode(self, n_distractors: int, rows: np.ndarray):
        """Return the choices behind each row; ``indices`` has shape (rows, n_distractors)."""
        radices = _radices(n_distractors, len(self.sets))
        digits = []
        for radix in reversed(radices):
            rows, digit = np.divmod(rows, radix)
            digits.append(digit)
        introduction, gold, *below = reversed(digits)
        codes = {"task": rows, "introduction": introduction, "gold": gold}
        if not below:
            return codes | {"indices": np.zeros((len(rows), 0), dtype=np.int8)}
        template, distractor, permutation = below
        theme = introduction % THEMES
        # Skipping an item of a list: the j-th of the others is j, or j + 1 from the skipped one on.
        first = template + (template >= theme)
        later = np.array(list(permutations(range(THEMES - 1), n_distractors - 1)), dtype=np.int64)[permutation]
        later += later >= first[:, None]
        offset = THEMES * (1 - introduction // THEMES)
        indices = np.concatenate([first[:, None], later], axis=1) + offset[:, None]
        return codes | {"distractor": distractor + (distractor >= gold), "indices": indices.astype(np.int8)}

    def _sentences(self, codes: dict[str, np.ndarray]):
        """Return (distinct sentences, codes) for each sentence of the text, in order."""
        sets = len(self.sets)
        case = self._task_cases[codes["task"]]
        parts = [(self._introductions, (codes["task"] * INTRODUCTIONS + codes["introduction"]) * sets + codes["gold"])]
        for position in range(codes["indices"].shape[1]):
            index = codes["indices"][:, position]
            if position == 0:
                row = (codes["task"] * INTRODUCTIONS + index) * sets + codes["distractor"]
                parts.append((self._first_distractors, row))
            else:
                parts.append((self._implicit, (case * INTRODUCTIONS + index) * sets + codes["distractor"]))
        return [*parts, (self._task_sentences, codes["task"])]

    def _ids(self, parts: "Sequence[tuple[_Sentences, np.ndarray]]", case: np.ndarray, gold: Any):
        columns: list[tuple[np.ndarray, np.ndarray | None]] = [(instances.digest_parts([STUDY]), None)]
        columns += [(sentences.digests, codes) for sentences, codes in parts]
        columns.append((instances.digest_parts("|".join(self.forms[c]) for c in CASES), case))
        gold = (
            (instances.digest_parts([""]), None) if gold is None else (instances.digest_parts(self._flat_forms), gold)
        )
        return instances.format_ids(instances.content_ids([*columns, gold]))

    def _options(self, case: np.ndarray):
        return _lists(np.arange(len(self.sets)) + case[:, None] * len(self.sets), self._flat_forms)

    def _task_columns(self, task: np.ndarray, case: np.ndarray):
        return {
            "case": instances.encode_dictionary(CASES, case),
            "occupation": instances.encode_dictionary([t.occupation for t in self.templates.tasks], task),
            "participant": instances.encode_dictionary([t.participant for t in self.templates.tasks], task),
        }

    def _origin_columns(self, task: np.ndarray, contexts: np.ndarray):
        """Return :data:`ORIGINS` for tasks and for positions among the contexts of their case, one list a row."""
        tasks = self.templates.tasks
        known = self.templates.occupation_rows
        occupation = pa.array([known.get(t.occupation) for t in tasks], pa.int16())
        lines = np.array([[c.row for c in self.templates.contexts[case]] for case in CASES], dtype=np.int16)
        columns = (
            pa.array(np.array([t.row for t in tasks], dtype=np.int16)[task]),
            _lists(lines[self._task_cases[task][:, None], contexts]),
            occupation.take(pa.array(task)),
            _lists(np.tile(np.array([self.templates.pronoun_rows[s] for s in self.sets], np.int16), (len(task), 1))),
        )
        return dict(zip(ORIGINS, columns, strict=True))


class _Sentences:
    """Distinct sentences: as an Arrow array for texts, as digests for ids."""

    def __init__(self, sentences: Iterable[str]):
        sentences = list(sentences)
        self.array = pa.array(sentences, pa.string())
        self.digests = instances.digest_parts(sentences)


def _context_sentence(template: str, form: str, person: str = ""):
    sentence = template.replace(PERSON, person).replace(PRONOUN, form)
    return sentence[:1].upper() + sentence[1:]


def _join(parts: Sequence[tuple[_Sentences, np.ndarray]]):
    columns = [sentences.array.take(pa.array(codes)) for sentences, codes in parts]
    return pc.binary_join_element_wise(*columns, " ")


def _lists(codes: np.ndarray, values: Iterable[str] | None = None):
    """Return a list array with one list for each row of ``codes``, of its own whole numbers or of ``values[codes]``."""
    rows, length = codes.shape
    offsets = pa.array(np.arange(rows + 1, dtype=np.int32) * length)
    flat = codes.reshape(-1)
    return pa.ListArray.from_arrays(
        offsets, pa.array(flat) if values is None else instances.encode_dictionary(values, flat)
    )


def schema() -> pa.Schema:
    """Return the Arrow schema of full sets; on disk dictionaries become plain columns."""
    kinds: dict[str, pa.DataType] = {"instance_id": pa.string(), "text": pa.string(), "options": pa.list_(WORD)}
    words = ("gold", "case", "occupation", "participant", "pronoun", "distractor_pronoun")
    kinds |= dict.fromkeys(words, WORD)
    kinds |= {"n_distractors": pa.int8(), "task_index": pa.int16(), "introduction_index": pa.int8()}
    kinds |= {"distractor_indices": pa.list_(pa.int8()), "polarity": WORD}
    kinds |= {"task_row": pa.int16(), "context_rows": pa.list_(pa.int16())}
    kinds |= {"occupation_row": pa.int16(), "pronoun_rows": pa.list_(pa.int16())}
    return pa.schema(kinds)


def sample_schema() -> pa.Schema:
    """Return the Arrow schema of samples, context-free and selected instances: plain, with a last column ``seed``."""
    plain = {WORD: pa.string(), pa.list_(WORD): pa.list_(pa.string())}
    fields = [pa.field(field.name, plain.get(field.type, field.type)) for field in schema()]
    return pa.schema([*fields, pa.field("seed", pa.int64())])
