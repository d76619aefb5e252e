# RUFF (Gautam et al. 2024), models scored by likelihood: instances, analyses, figures and tables.

RUFF = config["ruff"]
RUFF_ANALYSIS = "results/ruff/analysis/{templates}/"

# Figures: the tidy tables each one draws, and its number in the paper.
RUFF_FIGURES = {
    "headline": ["accuracy"],  # Figure 1
    "context_free": ["context_free", "context_free_summary"],  # Figure 4
    "introduction_accuracy": ["accuracy"],  # Figure 5
    "accuracy_by_pronoun": ["accuracy", "pronoun_tests"],  # Figure 6
    "accuracy_by_distractors": ["accuracy"],  # Figure 7
    "scaling": ["scaling"],  # Figure 8
    "error_types": ["error_types"],  # Figure 9
    "context_free_by_model": ["context_free"],  # Figure 10
    "accuracy_by_case": ["accuracy", "accuracy_over_models"],
    "accuracy_by_polarity": ["accuracy", "accuracy_over_models"],
}
RUFF_TABLES = {
    "instance_counts": "Table 1",
    "models": "Table 2",
    "accuracy": None,
    "pronoun_tests": None,
    "error_types": None,
}
RUFF_COMPARED = len(RUFF["templates"]) > 1

RUFF_FIGURE_FILES = expand(
    "results/ruff/figures/{templates}/{name}.{kind}",
    templates=RUFF["templates"],
    name=RUFF_FIGURES,
    kind=["pdf", "png", "csv"],
)
if RUFF_COMPARED:
    RUFF_FIGURE_FILES += multiext("results/ruff/figures/comparison/template_comparison", ".pdf", ".png", ".csv")
RUFF_TABLE_FILES = expand(
    "results/ruff/tables/{templates}/{name}.{kind}", templates=RUFF["templates"], name=RUFF_TABLES, kind=["tex", "csv"]
)
RUFF_SCORE_FILES = expand("results/ruff/scores/{templates}/{model}.parquet", templates=RUFF["templates"], model=RUN)
RUFF_FULL_SETS = "results/ruff/instances/{{templates}}/distractors{n}.parquet"
RUFF_SAMPLES = "results/ruff/instances/{{templates}}/sample_seed{seed}_distractors{n}.parquet"
RUFF_INSTANCE_FILES = expand(
    [
        "results/ruff/instances/{templates}/context_free.parquet",
        "results/ruff/instances/{templates}/selected.parquet",
        *expand(RUFF_FULL_SETS, n=RUFF["distractors"]),
        *expand(RUFF_SAMPLES, n=RUFF["distractors"], seed=RUFF["seeds"]),
    ],
    templates=RUFF["templates"],
)
