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
from scripts.ruff.check_templates import read_checked
from scripts.ruff.templates import PERSON, PLACEHOLDERS, POLARITIES, PRONOUN, THEMES, Templates

STUDY = "ruff"
INTRODUCTIONS = THEMES * len(POLARITIES)
MAX_DISTRACTORS = THEMES


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
        self.templates, self.sets = templates, dict(sets)
        self.forms = {case: [forms[case] for forms in sets.values()] for case in CASES}
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
        facts = {"study": STUDY, "templates": self.templates.name, "pronoun_sets": list(self.sets)}
        return facts | settings | {"origins": self.templates.origins()}

    def table(self, n_distractors: int, rows: np.ndarray) -> pa.RecordBatch:
        """Return the instances at ``rows`` of the full set in generation order, with :data:`SCHEMA`."""
        codes = self._decode(n_distractors, np.asarray(rows, dtype=np.int64))
        sets, case = list(self.sets), self._task_cases[codes["task"]]
        forms = [form for name in CASES for form in self.forms[name]]
        gold = case * len(sets) + codes["gold"]
        columns = self._text_columns(self._sentences(codes), case, forms, gold) | self._task_columns(
            codes["task"], np.column_stack([codes["introduction"], codes["indices"]])
        )
        columns |= {
            "gold": _take(forms, gold),
            "pronoun": _take(sets, codes["gold"]),
            "n_distractors": np.full(len(case), n_distractors),
            "introduction_index": codes["introduction"],
            "distractor_indices": list(codes["indices"]),
            "polarity": _take(POLARITIES, codes["introduction"] // THEMES),
        }
        if n_distractors:
            columns["distractor_pronoun"] = _take(sets, codes["distractor"])
        return _batch(columns, len(case))

    def context_free(self) -> pa.Table:
        """Return the task sentences without context, one row each, with :data:`SAMPLE_SCHEMA`."""
        tasks = np.arange(len(self.templates.tasks))
        columns = self._text_columns([(self._task_sentences, tasks)], self._task_cases, [""], None)
        columns |= self._task_columns(tasks, np.zeros((len(tasks), 0), dtype=int))
        return _with_seed(_batch(columns, len(tasks)), None)

    def full(self, n_distractors: int, rows_per_batch: int = 115_200) -> Iterator[pa.RecordBatch]:
        """Yield the full set in generation order, in batches of about ``rows_per_batch`` rows."""
        total = full_size(n_distractors, len(self.sets), len(self.templates.tasks))
        for start in range(0, total, rows_per_batch):
            yield self.table(n_distractors, np.arange(start, min(start + rows_per_batch, total)))

    def sample(self, n_distractors: int, seed: int) -> pa.Table:
        """Draw the sample of one seed without making the full set (section 3.2), with :data:`SAMPLE_SCHEMA`.

        The rows are those of ``full.groupby([occupation, case, gold, distractor form]).sample(n=k,
        random_state=seed)`` in pandas, in the same order: groups sorted by occupation, the authors' name of the case
        (:data:`PLACEHOLDERS`), gold form and, with distractors, distractor form; in each group ``k`` rows by
        ``RandomState(seed).choice`` without replacement from the rows in generation order. With P pronoun sets,
        ``k`` is 1 with distractors and P - 1 without, so that every sample has P (P - 1) rows for each task sentence:
        2,160 with four sets. More pronoun sets than a group without distractors has rows are refused.
        """
        return _with_seed(self.table(n_distractors, self.sample_rows(n_distractors, seed)), seed)

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

    def _text_columns(
        self, sentences: "list[tuple[_Sentences, np.ndarray]]", case: np.ndarray, gold: list[str], code: Any
    ) -> dict[str, Any]:
        """Return ids and texts of sentences; ``code`` is of the right form among ``gold``, None for the only one."""
        parts: list[tuple[np.ndarray, np.ndarray | None]] = [(instances.digest_parts([STUDY]), None)]
        parts += [(distinct.digests, codes) for distinct, codes in sentences]
        parts.append((instances.digest_parts("|".join(self.forms[name]) for name in CASES), case))
        parts.append((instances.digest_parts(gold), code))
        texts = [distinct.array.take(pa.array(codes)) for distinct, codes in sentences]
        return {
            "instance_id": instances.format_ids(instances.content_ids(parts)),
            "text": pc.binary_join_element_wise(*texts, " "),
        }

    def _task_columns(self, task: np.ndarray, contexts: np.ndarray) -> dict[str, Any]:
        """Return what follows from tasks, and from positions among the contexts of their case, shape (rows, n)."""
        known, case = self.templates, self._task_cases[task]
        tasks, lines = known.tasks, np.array([[c.row for c in known.contexts[name]] for name in CASES])
        return {
            "options": _take([self.forms[name] for name in CASES], case),
            "case": _take(CASES, case),
            "occupation": _take([one.occupation for one in tasks], task),
            "participant": _take([one.participant for one in tasks], task),
            "task_index": task,
            "task_row": _take([one.row for one in tasks], task),
            "context_rows": list(lines[case[:, None], contexts]),
            "occupation_row": _take([known.occupation_rows.get(one.occupation) for one in tasks], task),
            "pronoun_rows": [[known.pronoun_rows[name] for name in self.sets]] * len(task),
        }


class _Sentences:
    """Distinct sentences: as an Arrow array for texts, as digests for ids."""

    def __init__(self, sentences: Iterable[str]):
        sentences = list(sentences)
        self.array = pa.array(sentences, pa.string())
        self.digests = instances.digest_parts(sentences)


def _context_sentence(template: str, form: str, person: str = ""):
    sentence = template.replace(PERSON, person).replace(PRONOUN, form)
    return sentence[:1].upper() + sentence[1:]


def _take(values: Sequence[Any], codes: np.ndarray) -> np.ndarray:
    """Return ``values[codes]`` as objects."""
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects[codes]


def _batch(columns: dict[str, Any], rows: int) -> pa.RecordBatch:
    """Return columns with :data:`SCHEMA`; those that are not there are empty."""
    arrays = [pa.array(columns[f.name], f.type) if f.name in columns else pa.nulls(rows, f.type) for f in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _with_seed(batch: pa.RecordBatch, seed: int | None) -> pa.Table:
    return pa.Table.from_batches([batch]).append_column("seed", pa.array([seed] * len(batch), pa.int64()))


SCHEMA = pa.schema(
    {
        "instance_id": pa.string(), "text": pa.string(), "options": pa.list_(pa.string()), "gold": pa.string(),
        "case": pa.string(), "occupation": pa.string(), "participant": pa.string(), "pronoun": pa.string(),
        "distractor_pronoun": pa.string(), "n_distractors": pa.int8(), "task_index": pa.int16(),
        "introduction_index": pa.int8(), "distractor_indices": pa.list_(pa.int8()), "polarity": pa.string(),
        "task_row": pa.int16(), "context_rows": pa.list_(pa.int16()), "occupation_row": pa.int16(),
        "pronoun_rows": pa.list_(pa.int16()),
    }
)  # fmt: skip
"""Columns of full sets."""
SAMPLE_SCHEMA = SCHEMA.append(pa.field("seed", pa.int64()))
"""Columns of samples, context-free and selected instances."""
