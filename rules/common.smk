# Configuration, registries, paths and helpers that every rules file uses. No rules here.

import os
import re
import sys

ROOT = Path(workflow.basedir)

# Scripts import scripts.core from the repository, wherever the workflow runs.
sys.path.insert(0, str(ROOT))
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))

from scripts.core import closure, registry
from scripts.core import config as configuration
from scripts.core import templates as template_files
from scripts.core import upstream as upstream_files
from scripts.core.errors import UserError


def refuse(error):
    """End Snakemake with the one line of a UserError."""
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(1)


def root(path):
    """Return a file of the repository as the path of a rule's input.

    Relative where the workflow runs in the repository, so that a moved copy of both stays up to date.
    """
    absolute = ROOT / path
    return os.path.relpath(absolute) if absolute.is_relative_to(Path.cwd()) else str(absolute)


def code(script):
    """Return the digests of a script and of the local modules it imports, for a rule's params.

    Snakemake sees a changed script, not a changed module; as a parameter both rerun exactly the rules that use them.
    """
    try:
        return closure.digests(script, str(ROOT))
    except UserError as error:
        refuse(error)


def reported(path, study, kind):
    """Return an output that Snakemake's HTML report shows under ``study``, with its caption in the paper."""
    labels = {"kind": kind, "result": Path(path).stem.replace("_", " ")}
    for wildcard in re.findall(r"\{(\w+)\}", path):
        labels[wildcard] = f"{{{wildcard}}}"
    return report(path, caption=Path("results/paper/captions.rst").absolute(), category=study, labels=labels)


def rows_of(path):
    """Return how many rows a Parquet file has; a missing one is a FileNotFoundError, which Snakemake takes as later."""
    import pyarrow.parquet as pq

    # Snakemake looks at the name in the error, and Arrow's own errors have none.
    with Path(path).open("rb") as file:
        return pq.read_metadata(file).num_rows


def upstream(path):
    """Return where the workflow keeps an upstream file of config/upstream.tsv."""
    return f"results/upstream/{path}"


# Snakemake reads these files as well, but of two equal keys it takes the last. It has read those of the command line by
# now, so broken ones never get here: scripts/check_config.py names their lines.
CONFIG_FILES = [
    os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    for path in [ROOT / "config.yaml", *workflow.overwrite_configfiles]
]
try:
    if workflow.is_main_process:
        for path in CONFIG_FILES:
            configuration.load_overlay(path)
except UserError as error:
    refuse(error)


configfile: str(ROOT / "config.yaml")


try:
    configuration.validate(config, configuration.load_yaml(ROOT / "config/schemas/config.schema.yaml"), " with ".join(CONFIG_FILES))
    MODELS = registry.load_registry(ROOT / "config/models.yaml", ROOT / "config/schemas/models.schema.yaml")
    if config.get("registry"):
        MODELS |= registry.load_registry(config["registry"], ROOT / "config/schemas/models.schema.yaml")
        registry.check_conflicts(MODELS, config["registry"])
    RUN = registry.select(MODELS, config["models"])
    SERVERS = registry.select_servers(MODELS, config["completions"]["models"])
    UPSTREAM = upstream_files.read_manifest(ROOT / "config/upstream.tsv")
    TEMPLATES = Path(config.get("template_folder") or root("templates"))
    KNOWN_PRONOUNS = template_files.read_pronouns(TEMPLATES / "pronouns.tsv")
    # Each study says for itself how many sets it needs and whether they may share a form.
    PRONOUNS = template_files.select_pronoun_sets(KNOWN_PRONOUNS, config["pronoun_sets"], shared=True)
except UserError as error:
    refuse(error)

# What analyses, figures and tables need to know of the run's models, and nothing more: these facts enter their params.
RUN_MODELS = {name: registry.describe(entry) for name, entry in RUN.items()}
PRONOUN_SETS = list(PRONOUNS)
PRONOUN_LABELS = [{"set": name, "label": template_files.label(forms)} for name, forms in PRONOUNS.items()]

# The variable outranks the config; jobs read it, wherever they run.
if config["upstream"]["mirror"]:
    os.environ.setdefault("PRONOUN_UPSTREAM_MIRROR", config["upstream"]["mirror"])


# How many instances a scoring job of each study gets at most, for run times and shards; each wing adds its own.
STUDY_INSTANCES = {}

# What each study asks the models that it prompts: "study" to model to methods, new_tokens and seconds; each wing adds its
# own (rules/prompting.smk).
PROMPTED = {}

# Texts that models fill or continue: study to its files, results/<study>/texts/<set>.parquet; the groups of words whose
# mass is wanted: study to {group: words}; tokens to generate, where not ten: "study/set" to their number.
STUDY_TEXTS = {}
STUDY_WORD_GROUPS = {}
STUDY_NEW_TOKENS = {}

# What tables of each study mean by their columns and values where tables of instances have other names, so that the audit
# finds the template rows behind a cell (scripts/core/origins.py says how an entry is read): study to its list.
TRACED = {}

# Instance files that models score, for the plan: "study/templates" to the path.
PLANNED_INSTANCES = {}


def one_of(values):
    """Return a regular expression that matches exactly the given words."""
    return "|".join(re.escape(str(value)) for value in values)


wildcard_constraints:
    model=one_of(MODELS),
    templates="replica|official",
    seed=r"\d+",
    n=r"[0-5]",
    shard=r"\d+",
    shards=r"\d+",
