# Configuration, registries, paths and helpers that every rules file uses. No rules here.

import functools
import os
import re
import sys

ROOT = Path(workflow.basedir)

# Scripts import scripts.core from the repository, wherever the workflow runs.
sys.path.insert(0, str(ROOT))
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))

from scripts.core import config as configuration
from scripts.core import runs
from scripts.core.engines import registry
from scripts.core import studies as declarations
from scripts.core import templates as template_files
from scripts.core import upstream as upstream_files
from scripts.core.errors import UserError
from scripts.core.provenance import job_records
from scripts.core.studies import Documents, Prompted, Resolved, Scored, Texts, every, result


def refuse(error):
    """End Snakemake with the one line of a UserError."""
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(1)


def root(path):
    """Return a file of the repository as the path of a rule's input (scripts/core/runs.py)."""
    return runs.in_repository(path, Path.cwd(), ROOT)


def named(path):
    """Return a file or folder that the configuration names: in the working directory or else in the repository."""
    return runs.named(path, Path.cwd(), ROOT)


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
CONFIG_FILES = [root(path) for path in [ROOT / "config.yaml", *workflow.overwrite_configfiles]]
try:
    if workflow.is_main_process:
        for path in CONFIG_FILES:
            configuration.load_overlay(path)
except UserError as error:
    refuse(error)


configfile: str(ROOT / "config.yaml")


try:
    configuration.validate(
        config, configuration.configuration_schema(ROOT / "config/schemas"), " with ".join(CONFIG_FILES)
    )
    # Jobs run where the main process does.
    if workflow.is_main_process:
        runs.check_folder(config.get("run"), Path.cwd(), ROOT)
    schema = ROOT / "config/schemas/models.schema.yaml"
    known = registry.read_registry(ROOT / "config/models.yaml", schema)
    MODELS, SYSTEMS = known["models"], known["systems"]
    if config.get("registry"):
        known = registry.read_registry(named(config["registry"]), schema)
        MODELS |= known["models"]
        SYSTEMS |= known["systems"]
        registry.check_conflicts(MODELS, config["registry"])
        registry.check_systems(SYSTEMS, MODELS, config["registry"])
    for entry in [*MODELS.values(), *SYSTEMS.values()]:
        for part in ("source", "encoder"):
            if "path" in entry.get(part, {}):
                entry[part]["path"] = named(entry[part]["path"])
    RUN = registry.select(MODELS, config["models"])
    RUN_SYSTEMS = registry.select_systems(SYSTEMS, config["systems"])
    SERVERS = registry.select_servers(MODELS, config["completions"]["models"])
    UPSTREAM = upstream_files.read_manifest(ROOT / "config/upstream.tsv")
    TEMPLATES = Path(named(config.get("template_folder") or "templates"))
    KNOWN_PRONOUNS = template_files.read_pronouns(TEMPLATES / "pronouns.tsv")
    # Each study says for itself how many sets it needs and whether they may share a form.
    PRONOUNS = template_files.select_pronoun_sets(KNOWN_PRONOUNS, config["pronoun_sets"], shared=True)
except UserError as error:
    refuse(error)

# What analyses, figures and tables need to know of the run's models, and nothing more: these facts enter their params.
RUN_MODELS = {name: registry.describe(entry) for name, entry in RUN.items()}
# The same of its coreference systems.
RUN_SYSTEM_FACTS = {name: registry.describe_system(entry) for name, entry in RUN_SYSTEMS.items()}
PRONOUN_SETS = list(PRONOUNS)
PRONOUN_LABELS = [{"set": name, "label": template_files.label(forms)} for name, forms in PRONOUNS.items()]

# The variable outranks the config; jobs read it, wherever they run.
if config["upstream"]["mirror"]:
    os.environ.setdefault("PRONOUN_UPSTREAM_MIRROR", named(config["upstream"]["mirror"]))


# Weights that the workflow makes itself, where a model has a delta, and commits fetched from the hub beforehand.
PREPARED_WEIGHTS = {
    name: {"weights": f"results/models/{name}"} for name, entry in MODELS.items() if "delta" in entry.get("source", {})
}
FETCHED_MODELS = {
    name: {"fetched": f"results/models/fetched/{name}.json"}
    for name, entry in MODELS.items()
    if registry.uses_hub(entry)
}

# The part of a registry entry that scores depend on; a new label or licence rescores nothing.
SCORED_KEYS = ("source", "tokenizer", "architecture", "precision", "gpus", "gated", "remote_code", "demonstration")
SCORED_ENTRIES = {name: {key: entry[key] for key in SCORED_KEYS if key in entry} for name, entry in MODELS.items()}

# One model at a time gets all cores of this machine: fewer copies of weights in memory, and no idle core at the end.
SCORING_THREADS = min(16, workflow.cores or 4)

# What each study of the run declares about itself at the end of its rules file, by name, in the order of the paper.
STUDIES = {}


def declare(**declaration):
    """Register a study (scripts/core/studies.py); it has the models and systems of the run unless it names its own."""
    run_of_all = {"models": list(RUN), "systems": list(RUN_SYSTEMS)}
    STUDIES[declaration["name"]] = declarations.Study(**run_of_all | declaration)


def chosen(*known):
    """Return the studies of this run among all those known."""
    try:
        return declarations.chosen(config["studies"], known)
    except UserError as error:
        refuse(error)


# A checkpoint in a folder of this machine may be overwritten in place: the digest of its weights is part of each job
# that runs it. Asked for by jobs alone, and read again only when a file has changed.
@functools.cache
def local_weights(model):
    return job_records.local_weights(MODELS[model]["source"])


def check_jobs(jobs, verb):
    """Refuse numbers of jobs that no scheduler takes."""
    try:
        for study, counts in jobs.items():
            registry.check_jobs(counts, f"{verb} {study}", config["scoring"]["minutes_per_job"])
    except UserError as error:
        refuse(error)


def one_of(values):
    """Return a regular expression that matches exactly the given words."""
    return "|".join(re.escape(str(value)) for value in values)


wildcard_constraints:
    model=one_of(MODELS),
    system=one_of(SYSTEMS),
    templates="replica|official",
    shard=r"\d+",
    shards=r"\d+",


def shards_of(scored, name, model):
    """Return in how many jobs a model scores a set of a study."""
    instances, tokens = scored.size_of(name, model)
    return registry.shards(MODELS[model], instances, scored.options, tokens, config["scoring"]["minutes_per_job"])


def scoring_minutes(wildcards, attempt):
    """Return the time limit of a scoring job in minutes."""
    scored = SCORED[wildcards.study]
    instances, tokens = scored.size_of(wildcards.templates, wildcards.model)
    return registry.runtime_minutes(
        MODELS[wildcards.model], instances / int(wildcards.shards), scored.options, tokens, attempt
    )
