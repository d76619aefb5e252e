"""What is wrong with template files: what keeps instances from being made, and the constraints of the paper.

    python -m scripts.ruff.check_templates [FOLDER]

lists every problem of the project's own template files, or of others. Jobs that make instances refuse such files as
well, but stop at the first problem.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from scripts.core.data.options import SLOT
from scripts.core.data.templates import AGREEING, CASES, GENDERED, WORD, raise_first, read_pronouns, word_set
from scripts.core.errors import UserError
from scripts.ruff.templates import PERSON, POLARITIES, PRONOUN, THEMES, Task, Templates, read_official, read_replica

ROOT = Path(__file__).resolve().parents[2]
THIRD_PERSON = word_set(
    "he him his himself she her hers herself they them their theirs themself themselves xe xem xyr xyrs xemself",
    "ze zir zirs zirself hir hirs hirself",
)
AGREEMENT_TRAPS = AGREEING | word_set("ve re")
"""Words that do not agree with every pronoun (``ve``: as in ``{pronoun}'ve``)."""
_ADVERBS = word_set(
    "always sometimes perhaps afterwards besides nowadays often never ever also still just soon already now then",
    "once again almost",
)


def find_problems(templates: Templates, pronouns: dict | None = None) -> list[str]:
    """Check every structural constraint of sections 3.1-3.2 and Appendix B that a program can see.

    Grammaticality, coherence and an unambiguous antecedent need a reader; this reports what does not. Agreement is
    checked at the first word after a nominative slot that is not an adverb: forms of to be, to have and to do, common
    verbs in the bare present, and every other word in -s.

    Each line names file, row and the rule that is broken, and quotes no sentence. Forms of ``pronouns``
    (:func:`scripts.core.data.templates.read_pronouns`) must not stand in a template.
    """
    forms = THIRD_PERSON | {form for forms in (pronouns or {}).values() for form in forms.values()}
    problems = blocking_problems(templates)
    for task in templates.tasks:
        problems += [f"{task.where}: the sentence {problem}" for problem in _task_problems(task)]
    cases = {}
    for task in templates.tasks:
        cases.setdefault(task.occupation, set()).add(task.case)
    problems += [
        f"{templates.task_file}: the occupation '{occupation}' has no {case} sentence; add one"
        for occupation, present in cases.items()
        for case in CASES
        if case not in present
    ]
    first = {}
    for where, name, sentence, case, people in sentences(templates):
        problems += [f"{where}: {name} {problem}" for problem in _sentence_problems(sentence, case, forms)]
        if people and not sentence.startswith(f"The {PERSON}"):
            problems.append(f"{where}: {name} must begin with 'The {PERSON}'")
        if sentence in first:
            problems.append(f"{where}: repeats the sentence of {first[sentence]}; write another one")
        first.setdefault(sentence, where)
    return problems


def sentences(templates: Templates) -> list[tuple[str, str, str, str, int]]:
    """Return every sentence: file and row, what messages call it, it itself, its case, its slots for a person."""
    rows = [(task.where, "the sentence", task.sentence, task.case, 0) for task in templates.tasks]
    for contexts in templates.contexts.values():
        for context in contexts:
            rows.append((context.where, "the explicit sentence", context.explicit, context.case, 1))
            rows.append((context.where, "the implicit sentence", context.implicit, context.case, 0))
    return rows


def read_checked(paths: Sequence[str], pronouns: dict) -> Templates:
    """Return a template set, from the replica's files (tasks, contexts, occupations) or the authors' archive alone.

    Raises:
        UserError: For the first problem of :func:`find_problems`; the official set has only to be usable.
    """
    if len(paths) == 1:
        templates = read_official(*paths)
        raise_first(blocking_problems(templates))
    elif len(paths) == 3:
        templates = read_replica(*paths)
        raise_first(find_problems(templates, pronouns))
    else:
        raise UserError(
            f"templates: {len(paths)} files are given; give either the archive, or task, context and occupations"
        )
    return templates


def blocking_problems(templates: Templates) -> list[str]:
    """Return only the problems that keep instances from being made, in the form of :func:`find_problems`."""
    problems = []
    seen = {}
    for where, name, sentence, _, people in sentences(templates):
        for slot, expected in ((PRONOUN, 1), (PERSON, people)):
            if (count := sentence.count(slot)) != expected:
                times = "exactly once" if expected else "nowhere"
                problems.append(f"{where}: {name} must hold {slot} {times}, it has {count}")
    for task in templates.tasks:
        key = (task.occupation, task.case)
        if key in seen:
            problems.append(f"{task.where}: '{task.occupation}' has a {task.case} sentence in {seen[key]} already")
        seen.setdefault(key, task.where)
    if not templates.tasks:
        problems.append(f"{templates.task_file}: has no task sentence; add one for each occupation and case")
    for case, contexts in templates.contexts.items():
        expected = [polarity for polarity in POLARITIES for _ in range(THEMES)]
        if [c.polarity for c in contexts] != expected:
            counts = Counter(c.polarity for c in contexts)
            problems.append(
                f"{templates.context_file}: the {case} case has {counts['negative']} negative and "
                f"{counts['positive']} positive rows; expected {THEMES} negative ones, then {THEMES} positive ones"
            )
            continue
        themes = [c.theme for c in contexts]
        if len(set(themes)) != THEMES or themes[:THEMES] != themes[THEMES:]:
            problems.append(
                f"{contexts[0].where}: the {case} case must have {THEMES} different themes, "
                "in the same order for both polarities"
            )
    return problems


def _task_problems(task: Task):
    problems = []
    if not task.sentence.startswith("The "):
        problems.append("must start with 'The'")
    named = len(re.findall(rf"\b{re.escape(task.occupation)}\b", task.sentence, re.IGNORECASE))
    if named != 1:
        problems.append(f"must name the occupation '{task.occupation}' exactly once, it does so {named} times")
    if task.sentence.startswith(PRONOUN):
        problems.append("must not start with the slot")
    return problems


def _sentence_problems(sentence: str, case: str, forms: frozenset[str]):
    problems = []
    if sentence != sentence.strip() or "  " in sentence or any(c.isspace() and c != " " for c in sentence):
        problems.append("has a blank at its start or end, a double blank or a tab")
    if not sentence.rstrip().endswith("."):
        problems.append("must end with a full stop")
    if SLOT in sentence or re.search(r"[{}]", sentence.replace(PRONOUN, "").replace(PERSON, "")):
        problems.append(f"has a brace or {SLOT} besides {PRONOUN} and {PERSON}")
    words = [word.lower() for word in WORD.findall(sentence.replace(PRONOUN, " ").replace(PERSON, " "))]
    stems = {word.replace("’", "'").split("'")[0] for word in words} | set(words)
    problems += [f"has the pronoun '{word}' besides its slot" for word in sorted(stems & forms)]
    problems += [f"has the gendered word '{word}'" for word in sorted(stems & GENDERED)]
    _, slot, after = sentence.partition(PRONOUN)
    if slot and case == "nominative":
        trap = _trap(after)
        if trap:
            problems.append(f"has '{trap}' after the slot, which does not agree with every pronoun set")
    if slot and case == "possessive" and not re.match(r" [A-Za-z]", after):
        problems.append("must go on with a word after the possessive slot")
    return problems


def _trap(after: str):
    """Return the first word after a nominative slot that is not an adverb, if it cannot follow every pronoun."""
    for match in WORD.findall(after):
        word = match.lower().replace("’", "'")
        if word in _ADVERBS or word.endswith("ly"):
            continue
        return word if word in AGREEMENT_TRAPS or (word.endswith("s") and not word.endswith("ss")) else None
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Print one line per problem, or how many templates are fine; return 1 if there is a problem."""
    parser = argparse.ArgumentParser(
        prog="python -m scripts.ruff.check_templates", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "templates", help="default: the project's own")
    folder = parser.parse_args(arguments).folder
    try:
        templates = read_replica(folder / "ruff/task.tsv", folder / "ruff/context.tsv", folder / "occupations.tsv")
        problems = find_problems(templates, read_pronouns(folder / "pronouns.tsv"))
    except UserError as error:
        problems = [str(error)]
    if problems:
        print(*(f"Error: {problem}" for problem in problems), sep="\n", file=sys.stderr)
        return 1
    contexts = sum(map(len, templates.contexts.values()))
    print(f"{len(templates.tasks)} task sentences and {contexts} context templates are fine")
    return 0


if __name__ == "__main__":
    sys.exit(main())
