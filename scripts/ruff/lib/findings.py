"""The study's findings, each as a function from a run's tidy tables to checks.

Symbols as in the docstrings: ``acc(m, k, p)`` is the accuracy of model m with k distractors on pronoun set p, or over
all sets; distraction and bias are shares of the unambiguous errors. Sections and figures are those of Gautam et al.
(2024). Numbers that the study prints are looked up in ``paper/published/ruff.csv``.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pandas as pd

from scripts.core import statistics
from scripts.core.paper import published
from scripts.core.paper.claims import Claim, Lacking, check
from scripts.core.paper.formats import with_sign
from scripts.ruff.lib.study import PRONOUN_SETS

COUNTS = range(6)
CHANCE = 0.25
ALPHA = 0.05
NEAR = 0.02
"""Allowed distance of an accuracy from a printed one, as in the mapping of published numbers."""
NEAR_ONE_SET = 0.04
NEAR_ZERO = 0.05
MILLION, BILLION = 1e6, 1e9


@dataclass(frozen=True)
class Run:
    """A run's tables on one template set, and the study's models.

    Parameters
    ----------
    models : DataFrame
        From :func:`study_models`.
    printed : dict
        Item, row and column to the printed number.
    tables : dict of str to DataFrame
        ``accuracy``, ``context_free``, ``pronoun_tests``, ``error_types``; ``prompted_accuracy`` where models were
        prompted: ``model``, ``method`` (``vanilla`` or a kind of chain of thought), ``answer`` (``final``, ``chain``),
        ``prompt``, ``n_distractors``, ``accuracy``.
    excluded : frozenset of str
        Models of the run that must not be looked at (demonstration models).
    obstacle : str
        Why no model of the run can be compared with the study, or empty.
    """

    models: pd.DataFrame
    printed: dict
    tables: dict
    excluded: frozenset = frozenset()
    obstacle: str = ""

    @cached_property
    def encoders(self):
        return self.models[self.models.groups.str.contains("likelihood encoder")].model.tolist()

    @cached_property
    def decoders(self):
        return self.models[self.models.groups.str.contains("likelihood decoder")].model.tolist()

    @cached_property
    def everyone(self):
        return [*self.encoders, *self.decoders]

    @cached_property
    def families(self):
        """Families of scored models, each from its smallest to its largest model."""
        scored = self.models[self.models.model.isin(self.everyone)].sort_values("parameters", kind="stable")
        return {family: members.model.tolist() for family, members in scored.groupby("family", sort=False)}

    @cached_property
    def neighbours(self):
        """Pairs of neighbouring sizes in a family, the smaller first."""
        return [pair for names in self.families.values() for pair in pairwise(names)]

    @cached_property
    def _labels(self):
        return self.models.set_index("model").label

    @cached_property
    def _parameters(self):
        return self.models.set_index("model").parameters

    def label(self, model):
        """Return a model's name in the study."""
        return self._labels[model]

    def size(self, model):
        """Return a model's number of parameters as the study gives it."""
        return self._parameters[model]

    @cached_property
    def _cells(self):
        keys = {
            "accuracy": (["model", "n_distractors", "factor", "level"], "accuracy"),
            "context_free": (["model", "pronoun"], "share"),
            "pronoun_tests": (["model", "pronoun_a", "pronoun_b"], "p"),
            "error_types": (["model", "n_distractors", "error_type"], "share"),
        }
        return {name: self.tables[name].set_index(key)[value].to_dict() for name, (key, value) in keys.items()}

    def need(self, models, table="accuracy"):
        """Raise :class:`Lacking` with all of ``models`` that the run does not have."""
        if self.obstacle:
            raise Lacking(self.obstacle.removeprefix("not in this run: "))
        present = set(self.tables[table].model) if table in self.tables else set()
        absent = [self.label(m) for m in models if m in self.excluded or m not in present]
        if absent:
            raise Lacking(*absent)

    def _cell(self, table, model, key, words):
        self.need([model], table)
        if (model, *key) not in self._cells[table]:
            raise Lacking(words)
        return self._cells[table][(model, *key)]

    def acc(self, model, k, pronoun=None):
        """Return an accuracy."""
        factor = ("all", "all") if pronoun is None else ("pronoun", pronoun)
        words = _distractors(k) if pronoun is None else f"{pronoun} with {_distractors(k)}"
        return self._cell("accuracy", model, (k, *factor), words)

    def mean_acc(self, models, k, pronoun=None):
        """Return the mean accuracy over models, all of which the run must have."""
        self.need(models)
        return float(np.mean([self.acc(m, k, pronoun) for m in models]))

    def picks(self, model, pronoun):
        """Return how often a model picks a set without context, as a share of the task sentences."""
        return self._cell("context_free", model, (pronoun,), f"{pronoun} without context")

    def share(self, model, k, kind):
        """Return the share of an error type; NaN if the model makes no unambiguous error."""
        return self._cell("error_types", model, (k, kind), f"errors with {_distractors(k)}")

    def mean_share(self, model, kind):
        """Return the share of an error type, averaged over one to five distractors where it is defined."""
        return float(pd.Series([self.share(model, k, kind) for k in COUNTS[1:]]).mean())

    def p_value(self, model, a, b):
        """Return the p value of Welch's test between two pronoun sets without distractors; ``model`` may be ``all``."""
        if model == "all":
            self.need(self.everyone, "pronoun_tests")
            others = set(self.tables["pronoun_tests"].model) - {"all", *self.everyone}
            if others:
                raise Lacking("a test over the study's models alone")
        else:
            self.need([model], "pronoun_tests")
        cells = self._cells["pronoun_tests"]
        for pair in ((a, b), (b, a)):
            if (model, *pair) in cells:
                return cells[(model, *pair)]
        raise Lacking(f"a test of {a} against {b}")

    def prompted(self, model, k, method="vanilla", answer="final"):
        """Return the accuracies of a prompted model with each prompt."""
        self.need([model], "prompted_accuracy")
        table = self.tables["prompted_accuracy"]
        rows = table[
            (table.model == model) & (table.n_distractors == k) & (table.method == method) & (table.answer == answer)
        ]
        if rows.empty:
            raise Lacking(f"{method} prompting with {_distractors(k)}")
        return rows.accuracy.to_numpy()

    def near(self, value, key, allowed):
        """Tell whether a value is a printed one, within rounding and ``allowed``; return the printed one too."""
        text = self.printed[key]
        return abs(value - float(text)) <= allowed + published.half_unit(text) + 1e-9, text


def _distractors(k):
    return f"{k} distractor{'' if k == 1 else 's'}"


def study_models(models, numbers):
    """Return the study's models with their sizes.

    Parameters
    ----------
    models, numbers : DataFrame
        From :func:`scripts.core.paper.published.read_models` and ``read_published``.

    Returns
    -------
    DataFrame
        ``models`` with ``parameters`` (float), those of the study's Table 2.
    """
    units = {"million parameters": MILLION, "billion parameters": BILLION}
    rows = numbers[(numbers.item == "ruff_model_parameters") & (numbers.source == "Table 2")]
    sizes = {row.row: float(row.value) * units[row.unit] for row in rows.itertuples()}
    return models.assign(parameters=models.row.map(sizes))


def printed_numbers(numbers):
    """Return item, row and column of each published number to its text; of numbers printed twice the last."""
    return {(row.item, row.row, row.column): row.value for row in numbers.itertuples()}


def without_context(run):
    """For each model, he is picked more often than she, and she more often than they and xe."""

    def one(model):
        he, she, they, xe = (run.picks(model, pronoun) for pronoun in PRONOUN_SETS)
        text = f"{run.label(model)}: he {he:.3f}, she {she:.3f}, they {they:.3f}, xe {xe:.3f}"
        return he > she > max(they, xe), text

    return [check(one, model) for model in run.everyone]


def encoders_are_balanced(run):
    """The mean entropy of context-free picks is greater over encoders than over decoders."""

    def entropy(model):
        shares = np.array([run.picks(model, pronoun) for pronoun in PRONOUN_SETS])
        return -float(np.sum(shares[shares > 0] * np.log2(shares[shares > 0])))

    def one():
        run.need(run.everyone, "context_free")
        encoders, decoders = (np.mean([entropy(m) for m in names]) for names in (run.encoders, run.decoders))
        return encoders > decoders, f"mean entropy {encoders:.2f} bits (encoders), {decoders:.2f} bits (decoders)"

    return [check(one)]


def above_chance_below_people(run):
    """Without distractors every accuracy is between chance and one; MosaicBERT has the highest, as printed."""

    def between(model):
        value = run.acc(model, 0)
        return CHANCE < value < 1, f"{run.label(model)}: {value:.3f}"

    def best():
        run.need(run.everyone)
        model = max(run.everyone, key=lambda name: run.acc(name, 0))
        return model == "mosaicbert", f"highest: {run.label(model)}, {run.acc(model, 0):.3f}"

    def value():
        ours = run.acc("mosaicbert", 0)
        fits, text = run.near(ours, ("ruff_accuracy", "MosaicBERT | 0 | all", "accuracy"), NEAR)
        return fits, f"MosaicBERT: {ours:.3f}, published {text}"

    return [*(check(between, model) for model in run.everyone), check(best), check(value)]


def grows_with_size(run):
    """Size and accuracy without distractors go together in each family but ALBERT-v2, whose order is mixed."""

    def correlated(family):
        names = run.families[family]
        run.need(names)
        rho = statistics.spearman([run.size(m) for m in names], [run.acc(m, 0) for m in names])
        return rho > 0, f"{family}: rho {rho:.2f}"

    def mixed(family):
        names = run.families[family]
        run.need(names)
        values = [run.acc(m, 0) for m in names]
        return any(b <= a for a, b in pairwise(values)), f"{family}: {', '.join(f'{v:.3f}' for v in values)}"

    growing = [check(correlated, family) for family in ("BERT", "RoBERTa", "OPT", "Pythia", "Llama-2")]
    return [*growing, check(mixed, "ALBERT-v2")]


def order_of_pronouns(run):
    """Over models he is above she, and she above they and xe, each significantly by Welch's test."""

    def step(a, b):
        first, second = (run.mean_acc(run.everyone, 0, pronoun) for pronoun in (a, b))
        p = run.p_value("all", a, b)
        return first > second and p < ALPHA, f"{a} {first:.3f}, {b} {second:.3f}, p = {p:.3g}"

    return [check(step, a, b) for a, b in (("he", "she"), ("she", "they"), ("she", "xe"))]


def encoders_prefer_xe(run):
    """At least five of the nine encoders are better on xe than on they, BERT-large among them."""

    def better(model):
        return run.acc(model, 0, "xe") > run.acc(model, 0, "they")

    def most():
        run.need(run.encoders)
        count = sum(map(better, run.encoders))
        return 2 * count > len(run.encoders), f"{count} of {len(run.encoders)} encoders better on xe"

    def large():
        xe, they = (run.acc("bert-large", 0, pronoun) for pronoun in ("xe", "they"))
        return xe > they, f"BERT-large: xe {xe:.3f}, they {they:.3f}"

    return [check(most), check(large)]


def small_decoders_fail_on_xe(run):
    """OPT and Pythia models under 2.7 billion parameters are below chance on xe; three Pythia models near zero."""
    small = [m for family in ("OPT", "Pythia") for m in run.families[family] if run.size(m) < 2.7 * BILLION]

    def below(model, limit):
        value = run.acc(model, 0, "xe")
        return value < limit, f"{run.label(model)}: {value:.3f}"

    tiny = ("pythia-14m", "pythia-70m", "pythia-160m")
    return [*(check(below, m, CHANCE) for m in small), *(check(below, m, NEAR_ZERO) for m in tiny)]


def large_decoders_prefer_xe(run):
    """Decoders of 6.7 billion parameters and more are significantly better on xe; Llama-2-13B as printed."""

    def better(model):
        xe, they = (run.acc(model, 0, pronoun) for pronoun in ("xe", "they"))
        p = run.p_value(model, "they", "xe")
        return xe > they and p < ALPHA, f"{run.label(model)}: xe {xe:.3f}, they {they:.3f}, p = {p:.3g}"

    def value():
        ours = run.acc("llama-2-13b", 0, "xe")
        fits, text = run.near(ours, ("ruff_accuracy", "Llama-13B | 0 | xe/xem/xyr", "accuracy"), NEAR_ONE_SET)
        return fits, f"Llama-2-13B: {ours:.3f}, published {text}"

    return [*(check(better, m) for m in run.decoders if run.size(m) >= 6.7 * BILLION), check(value)]


def distractors_hurt(run):
    """Every model is less accurate with any number of distractors than without."""

    def lower(model, k):
        none, some = run.acc(model, 0), run.acc(model, k)
        return some < none, f"{run.label(model)}: {none:.3f} without, {some:.3f} with {k}"

    return [check(lower, model, k) for model in run.everyone for k in COUNTS[1:]]


def one_distractor_costs(run):
    """The mean loss to the first distractor over the scored models is the printed one."""

    def one():
        loss = run.mean_acc(run.everyone, 0) - run.mean_acc(run.everyone, 1)
        key = ("ruff_accuracy_drop", "mean over models | 0 to 1 distractor | all", "accuracy drop")
        fits, text = run.near(100 * loss, key, 100 * NEAR)
        return fits, f"{100 * loss:.1f} points over {len(run.everyone)} scored models, published {text}"

    return [check(one)]


def decoders_keep_falling(run):
    """Each further distractor lowers every decoder's accuracy."""

    def falls(model, k):
        before, after = run.acc(model, k), run.acc(model, k + 1)
        return after < before, f"{run.label(model)}: {before:.3f} with {k}, {after:.3f} with {k + 1}"

    return [check(falls, model, k) for model in run.decoders for k in COUNTS[:-1]]


def encoders_recover(run):
    """Every encoder is worst with exactly one distractor and stays under its accuracy without any."""

    def worst(model, k):
        one, other = run.acc(model, 1), run.acc(model, k)
        return one < other, f"{run.label(model)}: {one:.3f} with 1, {other:.3f} with {k}"

    def partly(model, k):
        none, other = run.acc(model, 0), run.acc(model, k)
        return other < none, f"{run.label(model)}: {none:.3f} without, {other:.3f} with {k}"

    lowest = [check(worst, model, k) for model in run.encoders for k in COUNTS if k != 1]
    return [*lowest, *(check(partly, model, k) for model in run.encoders for k in COUNTS[2:])]


def larger_is_better_with_distractors(run):
    """With five distractors the larger of two neighbouring sizes is the better one in more than half of the pairs."""

    def one():
        run.need(run.everyone)
        wrong = [(a, b) for a, b in run.neighbours if run.acc(b, 5) <= run.acc(a, 5)]
        count = len(run.neighbours) - len(wrong)
        exceptions = ", ".join(f"{run.label(b)} not over {run.label(a)}" for a, b in wrong)
        text = f"{count} of {len(run.neighbours)} pairs" + (f", but {exceptions}" if wrong else "")
        return 2 * count > len(run.neighbours), text

    return [check(one)]


def encoders_match_large_decoders(run):
    """RoBERTa-base is above OPT-125M and OPT-66B, and each encoder above the mean decoder of about its size."""

    def above(model):
        ours, other = run.acc("roberta-base", 0), run.acc(model, 0)
        return ours > other, f"RoBERTa-base {ours:.3f}, {run.label(model)} {other:.3f}"

    def above_its_size(model):
        similar = [d for d in run.decoders if 0.5 <= run.size(d) / run.size(model) <= 2]
        ours, other = run.acc(model, 0), run.mean_acc(similar, 0)
        return ours > other, f"{run.label(model)} {ours:.3f}, mean of decoders of about its size {other:.3f}"

    named = [check(above, model) for model in ("opt-125m", "opt-66b")]
    return [*named, *(check(above_its_size, model) for model in run.encoders)]


def encoders_lead_with_distractors(run):
    """With five distractors every encoder is above every decoder."""

    def above(encoder, decoder):
        ours, other = run.acc(encoder, 5), run.acc(decoder, 5)
        return ours > other, f"{run.label(encoder)} {ours:.3f}, {run.label(decoder)} {other:.3f}"

    return [check(above, encoder, decoder) for encoder in run.encoders for decoder in run.decoders]


def distraction_and_bias_explain(run):
    """Distraction and bias together are between the two printed shares of unambiguous errors, for every model."""
    item, row = "ruff_explained_error_share", "all models | unambiguous errors | distraction or bias"
    ends = [run.printed[(item, row, end)] for end in ("lowest", "highest")]
    # The study prints whole percents: what rounds to an end is inside.
    low, high = (float(text) / 100 for text in ends)
    half = published.half_unit(ends[0]) / 100

    def inside(model, k):
        total = run.share(model, k, "distraction") + run.share(model, k, "bias")
        if np.isnan(total):
            return None, ""
        return low - half <= total <= high + half, f"{run.label(model)} with {k}: {total:.3f}"

    return [check(inside, model, k) for model in run.everyone for k in COUNTS[1:]]


def decoders_are_distracted(run):
    """In decoders distraction never falls with a further distractor and stays under the printed level."""
    key = ("ruff_distraction_error_share", "decoder-only | unambiguous errors | distraction", "saturation level")
    level = float(run.printed[key]) / 100

    def rises(model, k):
        before, after = (run.share(model, n, "distraction") for n in (k, k + 1))
        if np.isnan(before + after):
            return None, ""
        return after >= before, f"{run.label(model)}: {before:.3f} with {k}, {after:.3f} with {k + 1}"

    def under(model, k):
        value = run.share(model, k, "distraction")
        return (None, "") if np.isnan(value) else (value < level, f"{run.label(model)} with {k}: {value:.3f}")

    rising = [check(rises, model, k) for model in run.decoders for k in COUNTS[1:-1]]
    return [*rising, *(check(under, model, k) for model in run.decoders for k in COUNTS[1:])]


def encoders_turn_to_bias(run):
    """In encoders distraction falls and bias rises from one to five distractors; in BERT-large bias leads from two."""

    def moves(model, kind, sign):
        first, last = (run.share(model, k, kind) for k in (1, 5))
        if np.isnan(first + last):
            return None, ""
        return sign * (last - first) > 0, f"{run.label(model)}: {kind} {first:.3f} with 1, {last:.3f} with 5"

    def leads(k):
        bias, distraction = (run.share("bert-large", k, kind) for kind in ("bias", "distraction"))
        if np.isnan(bias + distraction):
            return None, ""
        return bias > distraction, f"BERT-large with {k}: bias {bias:.3f}, distraction {distraction:.3f}"

    moving = [check(moves, m, *way) for m in run.encoders for way in (("distraction", -1), ("bias", 1))]
    return [*moving, *(check(leads, k) for k in COUNTS[2:])]


def larger_is_more_distracted(run):
    """Of two neighbouring sizes the larger has more distraction and less bias; in BERT it is the other way round."""

    def moves(small, large, kind, sign):
        first, second = (run.mean_share(m, kind) for m in (small, large))
        if np.isnan(first + second):
            return None, ""
        return sign * (second - first) > 0, f"{kind}: {run.label(small)} {first:.3f}, {run.label(large)} {second:.3f}"

    checks = []
    for small, large in run.neighbours:
        reversed_family = small in run.families["BERT"]
        for kind, sign in (("distraction", 1), ("bias", -1)):
            checks.append(check(moves, small, large, kind, -sign if reversed_family else sign))
    return checks


CHAINS = ("kojima", "zhou")
"""The two kinds of chain of thought, by the authors of their prompts."""


def prompting_shows_the_same(run):
    """Prompted models fall with distractors and stay under scored ones; chain of thought does not help FLAN-T5-xxl."""
    chat = [(f"llama-2-{size}-chat", f"llama-2-{size}") for size in ("7b", "13b", "70b")]
    flan = run.models[run.models.family == "FLAN-T5"].model.tolist()

    def under(prompted, scored, k):
        ours, other = run.prompted(prompted, k).mean(), run.acc(scored, k)
        return ours < other, f"{run.label(prompted)} {ours:.3f}, {run.label(scored)} {other:.3f} with {k}"

    def falls(model, k):
        before, after = (run.prompted(model, n).mean() for n in (k, k + 1))
        return after < before, f"{run.label(model)}: {before:.3f} with {k}, {after:.3f} with {k + 1}"

    def worse(method, k):
        plain, chain = run.prompted("flan-t5-xxl", k), run.prompted("flan-t5-xxl", k, method)
        text = (
            f"{method} with {k}: {chain.mean():.3f} ± {chain.std():.3f}, vanilla {plain.mean():.3f} ± {plain.std():.3f}"
        )
        return chain.mean() < plain.mean() and chain.std() > plain.std(), text

    def read_from_chain(method, k):
        plain = run.prompted("flan-t5-xxl", k).mean()
        difference = run.prompted("flan-t5-xxl", k, method, "chain").mean() - plain
        text = f"{method} with {k}, answer from the chain: {with_sign(difference, 3)} against vanilla"
        return abs(difference) <= NEAR if k == 0 else difference < 0, text

    return [
        *(check(under, prompted, scored, k) for prompted, scored in chat for k in COUNTS),
        *(check(falls, model, k) for model in flan for k in COUNTS[:-1]),
        *(check(compare, method, k) for compare in (worse, read_from_chain) for method in CHAINS for k in COUNTS),
    ]


_LISTED = (
    ("Section 5, Appendix G", "Without context every model picks he most often, then she; they and xe least",
     without_context),
    ("Appendix G", "Without context encoders spread their picks more evenly than decoders", encoders_are_balanced),
    ("Section 6, Figure 5", "With an introduction every model is between chance and people; MosaicBERT is best",
     above_chance_below_people),
    ("Section 6", "Without distractors accuracy grows with size in every family but ALBERT-v2", grows_with_size),
    ("Section 6, Figure 6", "He is easiest, she next, they and xe hardest; each step is significant",
     order_of_pronouns),
    ("Section 6", "Most encoders are better on xe than on they", encoders_prefer_xe),
    ("Section 6", "OPT and Pythia under 2.7B are below chance on xe, the smallest Pythia near zero",
     small_decoders_fail_on_xe),
    ("Section 6", "Decoders of 6.7B and more are significantly better on xe than on they", large_decoders_prefer_xe),
    ("Section 7, Figure 7", "Distractors lower the accuracy of every model", distractors_hurt),
    ("Abstract", "One distractor costs 34 points on average", one_distractor_costs),
    ("Section 7, Figure 7", "Decoders get worse with every further distractor", decoders_keep_falling),
    ("Section 7, Figure 7", "Encoders are worst with one distractor and recover in part", encoders_recover),
    ("Section 7", "With five distractors larger models of a family are better as a rule",
     larger_is_better_with_distractors),
    ("Section 7, Figure 8", "Without distractors encoders match or beat much larger decoders",
     encoders_match_large_decoders),
    ("Section 7, Figure 8", "With five distractors every encoder is ahead of every decoder",
     encoders_lead_with_distractors),
    ("Section 8", "Distraction and bias explain 74 to 93 percent of the unambiguous errors",
     distraction_and_bias_explain),
    ("Section 8, Figure 9", "In decoders distraction grows with every distractor and stays under 85 percent",
     decoders_are_distracted),
    ("Section 8, Figure 9", "In encoders distraction falls and bias rises with distractors", encoders_turn_to_bias),
    ("Section 8", "Larger models are more distracted and less biased; BERT is the exception",
     larger_is_more_distracted),
    ("Appendix H", "Prompted models decline in the same way, and chain of thought does not help",
     prompting_shows_the_same),
)  # fmt: skip

FINDINGS = tuple(Claim(number, *listed) for number, listed in enumerate(_LISTED, start=1))
