"""MISGENDERED's instances: balanced samples, and instances behind examples, made from template files."""

import itertools
import math
from pathlib import Path
from typing import Any

import pandas as pd

from scripts.core import files
from scripts.core.data import instances as instance_files
from scripts.core.data.templates import pronoun_lines, read_pronouns
from scripts.core.workflow.job import run_named
from scripts.misgendered import assembly, declarations, names, samples, study, templates
from scripts.misgendered import few_shot as examples
from scripts.misgendered.assembly import Instances


def load(
    template_files: list[str], pronouns: str, combinations: str, pronoun_sets: list[str], declared: dict[str, Any]
) -> Instances:
    """Read and check everything that instances are made from.

    Args:
        template_files: Of one template set, by whose names they are known: ``templates.tsv`` and ``names.tsv`` of the
            replica; or the authors' ``templates.csv``, names by class, and any templates with declarations.
        pronouns, combinations: templates/pronouns.tsv and templates/misgendered/declarations.tsv.
        declared: The configured declarations: ``types``, ``numbers`` and ``wording``.
    """
    given = {Path(path).stem: path for path in template_files}
    groups = study.select_groups(read_pronouns(pronouns), pronoun_sets)
    combined = declarations.read_combinations(combinations)
    if "names" in given:
        texts, listed = templates.read_replica(given["templates"]), names.read_replica(given["names"])
    else:
        released = {
            (kind, number): given[f"{file}_{number}"]
            for kind, file in study.RELEASED_FILES.items()
            for number in combined
            if f"{file}_{number}" in given
        }
        texts = templates.read_official(given["templates"], released)
        listed = names.read_official(given)
    lines = pronoun_lines(pronouns)
    return Instances(
        templates=texts,
        names=listed,
        groups=groups,
        declarations=declarations.select_declarations(combined, declared["types"], declared["numbers"], combinations),
        wording=declared["wording"],
        group_rows=[lines[group] for group in groups],
        origins={
            "template_row": Path(texts.file).name,
            "name_row": Path(given["names"]).name if "names" in given else "{name_file}",
            "pronoun_rows": Path(pronouns).name,
            "declaration_row": Path(combinations).name,
        },
    )


def sample(
    *, template_files: list, pronouns: str, combinations: str, pronoun_sets: list, declared: dict,
    size: int, reworded: int, seed: int, selected: str,
) -> None:  # fmt: skip
    """Draw a balanced sample of ``size`` instances (:mod:`scripts.misgendered.samples`).

    Behind them stand the first ``reworded`` ones of a sample of that size, with declarations in the other wording.
    """
    loaded = load(template_files, pronouns, combinations, pronoun_sets, declared)
    metadata = loaded.metadata(sample=size, reworded=reworded, seed=seed)
    drawn = samples.sample_with_rewordings(loaded, size, reworded, seed)
    instance_files.write_stream(selected, assembly.schema(), drawn, metadata)


def few_shot(
    *, template_files: list, pronouns: str, combinations: str, pronoun_sets: list, declared: dict,
    shots: int, draws: int, size: int, seed: int, selected: str,
) -> None:  # fmt: skip
    """Put ``shots`` examples before ``size`` instances, ``draws`` times (Table 13 of the paper)."""
    number = examples.find_declaration(declarations.read_combinations(combinations), combinations)
    of_examples = declared | {"types": [examples.KIND], "numbers": [number]}
    loaded = load(template_files, pronouns, combinations, pronoun_sets, of_examples)
    table = examples.make_prompts(loaded, shots, draws, size, seed)
    files.write_parquet(selected, table, examples.metadata(loaded, shots, draws, size, seed))


def sizes(
    *, template_files: list, pronouns: str, combinations: str, pronoun_sets: list, declared: dict,
    template_sets: dict, sizes: str,
) -> None:  # fmt: skip
    """Count what instances are made from (CSV: ``templates``, ``size``, ``value``).

    ``template_sets`` is how many of the ``template_files``, which come one set after the other, each set has.
    """
    given, rows = iter(template_files), []
    for part, count in template_sets.items():
        loaded = load(list(itertools.islice(given, count)), pronouns, combinations, pronoun_sets, declared)
        rows += [(part, size, value) for size, value in count_sizes(loaded).items()]
    files.write_csv(sizes, pd.DataFrame(rows, columns=["templates", "size", "value"]))


def count_sizes(loaded: Instances) -> dict[str, int]:
    """Return the sizes of one set of templates: ``full`` is all of its instances, ``one`` those of a declaration."""
    forms = [template.form for template in loaded.templates.rows]
    classes = [entry["name_class"] for entry in loaded.names]
    of_forms = {form: forms.count(form) for form in study.FORMS}
    declared = [len(declaration.forms) for declaration in loaded.declarations]
    return {
        "full": math.prod(loaded.shape), "one": math.prod(loaded.shape[1:]), "groups": len(loaded.groups),
        "types": len({forms.type for forms in loaded.groups.values()}), "forms": len(set(forms)),
        "combinations": len({declaration.number for declaration in loaded.declarations}),
        "declaration_types": len({declaration.kind for declaration in loaded.declarations}),
        "declared.fewest": min(declared), "declared.most": max(declared), "templates": len(forms),
        "templates.smallest": min(of_forms.values()), "names": len(classes),
    } | {f"templates.{form}": count for form, count in of_forms.items()} | {
        f"names.{name_class}": classes.count(name_class) for name_class in study.NAME_CLASSES
    }  # fmt: skip


if __name__ == "__main__":
    run_named()
