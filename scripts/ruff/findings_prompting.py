"""The finding of RUFF's Appendix H on prompted models (:mod:`scripts.ruff.findings`)."""

from functools import partial

import scipy

from scripts.core.paper import checks, estimates
from scripts.core.paper.estimates import compare_all, compare_by_test, require_decided
from scripts.core.paper.finding_verdicts import Check, Comparison, Finding, evaluate_check
from scripts.core.paper.formats import with_sign
from scripts.ruff.quantities import COUNTS, NEAR, SIGNIFICANT, Results, compare_prompts, describe_test

CHAINS = ("kojima", "zhou")
"""The two kinds of chain of thought, by the authors of their prompts."""
FINDINGS: list[Finding] = []
states = partial(checks.register, FINDINGS)


@states(20, "Appendix H", "Prompted models decline in the same way, and chain of thought does not help")
def prompting_shows_the_same(run: Results) -> list[Check]:
    """Prompted models fall with distractors and stay under scored ones; chain of thought does not help FLAN-T5-xxl.

    Prompts are the units of paired tests: one prompt's accuracies are compared with each other, or with the end of the
    scored accuracy's interval. Deviations over prompts are compared by Levene's test. Chains without distractors are
    near vanilla prompts if two one-sided tests say so.
    """
    chat = [(f"llama-2-{size}-chat", f"llama-2-{size}") for size in ("7b", "13b", "70b")]
    flan = run.models[run.models.family == "FLAN-T5"].model.tolist()

    def under(prompted: str, scored: str, k: int):
        ours, other = run.prompted(prompted, k), run.acc(scored, k)
        below, test = compare_prompts(ours, other.low, other.high)
        text = f"{run.label(prompted)} {ours.mean():.3f}, {run.label(scored)} {other.text()} with {k}, {test}"
        return require_decided(below, text, len(ours), SIGNIFICANT)

    def falls(model: str, k: int):
        before, after = (run.prompted(model, n) for n in (k, k + 1))
        below, test = compare_prompts(after, before, before)
        text = f"{run.label(model)}: {before.mean():.3f} with {k}, {after.mean():.3f} with {k + 1}, {test}"
        return require_decided(below, text, len(after), SIGNIFICANT)

    def worse(method: str, k: int):
        plain, chain = run.prompted("flan-t5-xxl", k), run.prompted("flan-t5-xxl", k, method)
        below, test = compare_prompts(chain, plain, plain)
        spread = scipy.stats.levene(chain, plain).pvalue
        ours, theirs = (f"{values.mean():.3f} ± {values.std():.3f}" for values in (chain, plain))
        said = describe_test(spread, "Levene's test of the deviations:")
        text = f"{method} with {k}: {ours}, vanilla {theirs}, {test}, {said}"
        wider = compare_by_test(spread, chain.std() > plain.std())
        return require_decided(compare_all([below, wider]), text, len(chain), SIGNIFICANT)

    def read_from_chain(method: str, k: int):
        plain, chain = run.prompted("flan-t5-xxl", k), run.prompted("flan-t5-xxl", k, method, "chain")
        text = f"{method} with {k}, answer from the chain: {with_sign(chain.mean() - plain.mean(), 3)} against vanilla"
        if k == 0:
            under, over = (compare_prompts(chain, plain + end, plain + end)[0] for end in (NEAR, -NEAR))
            near = Comparison(max(under.right, over.wrong), min(under.wrong, over.right))
            return require_decided(near, text, len(chain), estimates.BOUND)
        below, test = compare_prompts(chain, plain, plain)
        return require_decided(below, f"{text}, {test}", len(chain), SIGNIFICANT)

    return [
        *(evaluate_check(under, prompted, scored, k) for prompted, scored in chat for k in COUNTS),
        *(evaluate_check(falls, model, k) for model in flan for k in COUNTS[:-1]),
        *(
            evaluate_check(compare, method, k)
            for compare in (worse, read_from_chain)
            for method in CHAINS
            for k in COUNTS
        ),
    ]
