"""The tables of RUFF, each by the function of its rule.

A function writes the cells (LaTeX) and the tidy rows behind them (CSV).
"""

import re
from pathlib import PurePath

import pandas as pd

from scripts.core import files
from scripts.core.paper import latex
from scripts.core.paper import published as comparison
from scripts.core.paper.tables import drop_uninformative, write_table
from scripts.core.workflow.job import run_named
from scripts.ruff.lib import prompt_tables, study, tables
from scripts.ruff.lib.prompts import read_chains, read_prompts, select_chains


def table_accuracy(*, accuracy: str, tex: str, csv: str, models: dict) -> None:
    """Tabulate accuracies by model and number of distractors.

    Write means with SD over samples (LaTeX) and the same with intervals (CSV).
    """
    frame = files.read_csv(accuracy)
    write_table(tex, csv, tables.accuracy_cells(frame, models), rows=frame[frame.factor == "all"])


def table_chain_examples(
    *, prompt_templates: str, chain_templates: str, sample: str, tex: str, csv: str, methods: list, blank: str
) -> None:
    """Show both steps of prompting with a chain of thought (paper Table 5).

    Write the table for ``methods``.
    """
    chains = select_chains(read_chains(chain_templates), methods, chain_templates)
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.chain_cells(prompts, chains, files.read_parquet(sample), blank)
    write_table(tex, csv, cells, align="llX", midrules=range(1, len(cells)))


def table_error_types(*, error_types: str, tex: str, csv: str, models: dict) -> None:
    """Tabulate the types of unambiguous errors.

    Write shares of distraction and bias by number of distractors (LaTeX) and all counts (CSV).
    """
    types = files.read_csv(error_types)
    write_table(tex, csv, tables.error_types_cells(types, models), rows=types)


def table_instance_counts(
    *, context_free: str, full_set_sizes: str, samples: list, selected: str, tex: str, csv: str, models: dict,
    scored: dict,
) -> None:  # fmt: skip
    """Count the instances of every setting: possible, sampled and scored (paper Table 1).

    Count rows in the files themselves; ``samples`` are named by their settings.

    Full sets are not made for this: ``full_set_sizes`` says how many rows they have. ``scored`` says how many instances
    of each sample every one of ``models`` scores.
    """
    import pyarrow.parquet as pq

    sampled = {}
    for path in samples:
        (number,) = re.findall(r"distractors(\d+)\.parquet$", path)
        n = int(number)
        sampled.setdefault(n, []).append(pq.read_metadata(path).num_rows)
    sizes = files.read_parquet(full_set_sizes, columns=["n_distractors", "instances"])
    table = tables.instance_counts(
        pq.read_metadata(context_free).num_rows,
        dict(zip(sizes.n_distractors, sizes.instances, strict=True)),
        sampled,
        files.read_parquet(selected, columns=["n_distractors", "priority"]),
        scored.values(),
    )
    files.write_csv(csv, table)
    cells = tables.instance_counts_cells(table, scored, models)
    files.write_text(tex, latex.latex_table(cells, align="l" + "r" * (len(cells.columns) - 1)))


def table_models(*, tex: str, csv: str, models: dict) -> None:
    """List the models of the run by family (paper Table 2).

    Write families and sizes (LaTeX) and one row for each model (CSV).
    """
    table = pd.DataFrame.from_dict(models, orient="index").rename_axis("model").reset_index()
    write_table(tex, csv, tables.models_cells(models), align="lXl", rows=table)


def table_prompt_examples(
    *, prompt_templates: str, sample: str, answers: list, tex: str, csv: str, models: dict, blank: str
) -> None:
    """Show what models read for one prompt, with what is put around it (paper Table 4).

    Write the table; metadata of ``answers``, one file for each of ``models``, say what was put around prompts.
    """
    paths = [answers] if isinstance(answers, str) else answers
    wrapped = {model: files.parquet_metadata(path)["wrapped"] for model, path in zip(models, paths, strict=True)}
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.examples_cells(prompts, files.read_parquet(sample), blank, models, wrapped)
    write_table(tex, csv, cells, align="lX", midrules=range(1, len(cells)))


def table_prompt_templates(*, prompt_templates: str, tex: str, csv: str, kinds: list) -> None:
    """List the prompt templates (paper Table 3).

    Write the templates of ``kinds``, line breaks as line breaks.
    """
    prompts = read_prompts(prompt_templates)
    cells = prompt_tables.templates_cells({k: v for k, v in prompts.items() if v["kind"] in kinds})
    write_table(tex, csv, cells, align="llX", midrules=range(1, len(cells)))


def table_prompted_models(*, answers: list, tex: str, csv: str, models: dict) -> None:
    """List the prompted models, how they were prompted and which weights they have.

    Write the table from the metadata of ``answers``, one file for each of ``models``.
    """
    table = prompt_tables.prompted_models(models, [answers] if isinstance(answers, str) else answers)
    cells = prompt_tables.prompted_models_cells(table, models)
    write_table(tex, csv, cells, rows=table, align="lrll" + "X" * ("Thinking" in cells) + "rrrrl")


def table_prompting(*, prompted_summary: str, tex: str, csv: str, models: dict) -> None:
    """Tabulate accuracies of prompted models and what their outputs come to.

    Write means over prompts with their SD (LaTeX) and the same for each kind of prompt (CSV).
    """
    frame = files.read_csv(prompted_summary)
    cells, constant = drop_uninformative(prompt_tables.prompting_cells(frame, models), ["Model", "Method"])
    left = sum(head in cells for head in ("Model", "Method", "Answer in"))
    write_table(tex, csv, cells, left, rows=frame, constant=constant)


def table_pronoun_tests(*, pronoun_tests: str, tex: str, csv: str, models: dict) -> None:
    """Tabulate the tests between pronoun sets.

    Write the tests over all models and, for few models, of each of them (LaTeX); all tests (CSV).
    """
    tests = files.read_csv(pronoun_tests)
    cells = tables.pronoun_tests_cells(tests, models)
    if cells.shape[1] < 2:
        files.write_csv(csv, tests)
        files.write_text(tex, "% No pair of sets can be tested.\n")
    else:
        write_table(tex, csv, cells, rows=tests)


def published_vs_ours(
    *, published: str, mapping: str, study_models: str, tables: list, csv: str, tex: str, numbers: str,
    template_sets: list, every_set: list, models: dict, pronoun_sets: list,
) -> None:  # fmt: skip
    """Set every published number beside ours, on each template set, with a verdict.

    Write all comparisons (CSV), those that the paper shows (LaTeX) and how often each verdict fell (JSON).

    ``tables`` are the analysis tables of each of ``template_sets``; the sets of ``every_set`` that were not run are
    listed as such. Demonstration models among ``models`` are left out.
    """
    prompted = any(PurePath(path).stem == "prompted_models" for path in tables)
    obstacle = study.comparison_obstacle(pronoun_sets)
    comparison.write(
        "ruff",
        comparison.read(published, mapping, study_models),
        comparison.read_tables(tables, template_sets),
        every_set,
        excluded=comparison.demonstration(models),
        obstacles={
            "likelihood": obstacle,
            "prompting": obstacle if prompted else "not in this run: a prompted model",
        },
        inapplicable={"instances": study.other_sets(pronoun_sets)},
        csv=csv,
        tex=tex,
        numbers=numbers,
    )


if __name__ == "__main__":
    run_named()
