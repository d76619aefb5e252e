# Needs the configuration, registries and templates. Makes what every rules file uses of them: models, systems, pronoun
# sets, paths and helpers. No rules here.

import dataclasses
import functools
import os
import re
import sys

ROOT = Path(workflow.basedir)

# Scripts import scripts.core from the repository, wherever the workflow runs.
sys.path.insert(0, str(ROOT))
os.environ.update(PYTHONPATH=os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])))

from scripts.core import config as configuration
from scripts.core.workflow import bytecode, environments, runs
from scripts.core.models import cards, conflicts, costs, descriptions, entries, registry
from scripts.core.workflow import studies as declarations
from scripts.core.data import templates as template_files
from scripts.core.data import upstream as upstream_files
from scripts.core.errors import UserError, did_you_mean
from scripts.core.provenance import job_records
from scripts.core.workflow.model_work import Prompting, PromptSet, ScoredInstances
from scripts.core.workflow.studies import Card, ExplorerView, PairedOutcomes, Point

if workflow.is_main_process:
    bytecode.compile_checked(ROOT / "scripts")

# Snakemake does not quote it.
sys.executable = environments.without_blanks(sys.executable)


def exit_with(error):
    """End Snakemake with the one line of a UserError."""
    print(f"Error: {error}", file=sys.stderr)
    sys.exit(1)


def call_or_exit(function, *given, **named):
    """Return what a function returns; where it raises a UserError, end Snakemake with its one line."""
    try:
        return function(*given, **named)
    except UserError as error:
        exit_with(error)


def repo_path(path):
    """Return a file of the repository as the path of a rule's input (scripts/core/workflow/runs.py)."""
    return runs.in_repository(path, Path.cwd(), ROOT)


def config_path(path):
    """Return a file or folder that the configuration names: in the working directory or else in the repository."""
    return runs.resolve_path(path, Path.cwd(), ROOT)


def checkpoint_path(path):
    """Return a checkpoint's folder, as config_path; where that is away, the one whose weights this run has read."""
    found = config_path(path)
    return path if not Path(found).exists() and job_records.last_weights(path) else found


def pronoun_rows(sets):
    """Return the digests of the rows of pronoun sets, for the param ``_rows``; none without sets."""
    return {str(PRONOUN_FILE): job_records.row_digests(PRONOUN_FILE, sets)} if sets else {}


def rows_of(path):
    """Return how many rows a Parquet file has; a missing one is a FileNotFoundError, which Snakemake takes as later."""
    import pyarrow.parquet as pq

    # Snakemake looks at the name in the error, and Arrow's own errors have none.
    with Path(path).open("rb") as file:
        return pq.read_metadata(file).num_rows


def published_files(study):
    """Return the inputs of a study's comparison with its published numbers: the numbers, what they are, its models."""
    kinds = {"published": "", "mapping": "_mapping", "study_models": "_models"}
    return {name: repo_path(f"paper/published/{study}{suffix}.csv") for name, suffix in kinds.items()}


def one_of(values):
    """Return a regular expression that matches exactly the given words; without any it matches nothing."""
    return "|".join(re.escape(str(value)) for value in values) or "(?!)"


def from_wildcards(*names):
    """Return params that have the values of the job's wildcards."""
    return {name: (lambda wildcards, name=name: getattr(wildcards, name)) for name in names}


def reported(path, category, place, kind, title=None):
    """Return an output that Snakemake's HTML report shows, with its caption in the paper.

    The report sorts categories by their names and results by their labels, the first one first. Without a title, a
    result is called what its file is.
    """
    title = title or Path(path).stem.replace("_", " ").capitalize()
    labels = {"no.": f"{place:02}", "result": title, "kind": kind}
    for wildcard in re.findall(r"\{(\w+)\}", path):
        labels[wildcard] = f"{{{wildcard}}}"
    return report(path, caption=Path("results/paper/captions.rst").absolute(), category=category, labels=labels)


def upstream(path):
    """Return where the workflow keeps an upstream file of config/upstream.tsv."""
    return f"results/upstream/{path}"


# Snakemake reads these files as well, but of two equal keys it takes the last. It has read those of the command line by
# now, so broken ones never get here: scripts/check_config.py names their lines.
CONFIG_FILES = [
    repo_path(path) for path in [ROOT / "config.yaml", *(Path.cwd() / path for path in workflow.overwrite_configfiles)]
]
if workflow.is_main_process:
    for path in CONFIG_FILES:
        call_or_exit(configuration.load_overlay, path)


configfile: str(ROOT / "config.yaml")


try:
    configuration.validate(config, configuration.configuration_schema(ROOT / "config/schemas"), *CONFIG_FILES)
    # Jobs run where the main process does.
    if workflow.is_main_process:
        runs.check_folder(config.get("run"), Path.cwd(), ROOT)
    schema = ROOT / "config/schemas/models.schema.yaml"
    known = registry.read_registry(ROOT / "config/models.yaml", schema)
    if config.get("registry"):
        own = registry.read_registry(config_path(config["registry"]), schema)
        known = registry.add_registry(known, own, config["registry"])
    MODELS, SYSTEMS = (
        {name: entries.find_folders(entry, checkpoint_path) for name, entry in named.items()} for named in known
    )
    for name in MODELS.keys() & set(registry.listed_models(config)):
        MODELS[name] = descriptions.complete_model(MODELS[name])
    conflicts.check_models(MODELS, config.get("registry") or "config/models.yaml")
    RUN = registry.select_models(MODELS, config["models"], file=config.get("registry"))
    configuration.check_named_files(config, [Path.cwd(), ROOT])
    RUN_SYSTEMS = registry.select_systems(SYSTEMS, config["systems"])
    conflicts.check_labels([*RUN.values(), *RUN_SYSTEMS.values()])
    SERVERS = registry.select_servers(MODELS, config["completions"]["models"])
    UPSTREAM = upstream_files.read_manifest(ROOT / "config/upstream.tsv")
    TEMPLATES = Path(config_path(config.get("template_folder") or "templates"))
    KNOWN_PRONOUNS = template_files.read_pronouns(TEMPLATES / "pronouns.tsv")
    # Each study says for itself how many sets it needs and whether they may share a form.
    PRONOUNS = template_files.select_pronoun_sets(KNOWN_PRONOUNS, config["pronoun_sets"], shared=True)
except UserError as error:
    exit_with(error)

# What analyses, figures and tables need to know of the run's models, and nothing more: these facts enter their params.
RUN_MODELS = {name: model.facts for name, model in RUN.items()}
# The same of its coreference systems.
RUN_SYSTEM_FACTS = {name: system.facts for name, system in RUN_SYSTEMS.items()}
PRONOUN_SETS = list(PRONOUNS)
# A job depends on the rows of its pronoun sets, whose digests rules/modules.smk gives it, and not on the file's time. What
# jobs look for in all rows, such as forms in templates, they can only refuse.
PRONOUN_FILE = ancient(str(TEMPLATES / "pronouns.tsv"))
PRONOUN_LABELS = [{"set": name, "label": template_files.label_pronouns(forms)} for name, forms in PRONOUNS.items()]

# The variable outranks the config; jobs read it, wherever they run.
if config["upstream"]["mirror"]:
    os.environ.setdefault("PRONOUN_UPSTREAM_MIRROR", config_path(config["upstream"]["mirror"]))


# Weights that the workflow makes itself, where a model has a delta, and commits fetched from the hub beforehand.
PREPARED_WEIGHTS = {name: {"weights": f"results/models/{name}"} for name, model in MODELS.items() if model.has_delta}
FETCHED_MODELS = {
    name: {"fetched": f"results/models/fetched/{name}.json"} for name, model in MODELS.items() if model.is_fetched
}


def model_files(wildcards):
    """Return the inputs that a job needs before it can load its model."""
    return PREPARED_WEIGHTS.get(wildcards.model, {}) | FETCHED_MODELS.get(wildcards.model, {})


WITH_WEIGHTS = one_of(name for name, model in MODELS.items() if model.source)
BEHIND_SERVERS = one_of(name for name, model in MODELS.items() if model.api) or "none"


def scored_entry(wildcards):
    """Return what scores of a model depend on; a new label or licence rescores nothing."""
    return entries.job_entry(MODELS[wildcards.model], entries.ScoredModel)


# One large model at a time gets all cores of this machine: fewer copies of weights in memory. Small ones run in pairs,
# each on half of them, which takes a seventh less time: their matrix products are too small for many cores.
SCORING_THREADS = min(16, workflow.cores or 4)
SMALL_MODEL = 1_000_000_000


def model_threads(wildcards):
    """Return the processor threads of a job that runs a model."""
    small = MODELS[wildcards.model].parameters < SMALL_MODEL
    return max(1, SCORING_THREADS // 2) if small else SCORING_THREADS


# What each study of the run declares about itself at the end of its rules file, by name, in the order of the paper.
STUDIES = {}
# What the paper prints of a study: its section, and what its part of the appendix adds.
SECTION_PARTS = ("", "_appendix")


def declare(**declaration):
    """Register a study (scripts/core/workflow/studies.py); it has the run's models and systems unless it names its own."""
    defaults = {"models": list(RUN), "systems": list(RUN_SYSTEMS)}
    study = call_or_exit(declarations.declare_study, **defaults | declaration)
    STUDIES[study.name] = study


def select_studies(*known):
    """Return the studies of this run among all those known."""
    return call_or_exit(declarations.select_studies, config["studies"], known)


def is_run():
    """Return whether jobs will run: plans and audits leave no trace of what they read."""
    return workflow.executor_plugin is not None and not workflow.dryrun


def folder_weights(place, whole):
    """Return the digest of weights in a folder of this machine, None where a revision or version fixes them."""
    if not isinstance(place, entries.Folder):
        return None
    return job_records.local_weights(place.path, whole=whole, remember=is_run())


def shard_params(rule, wildcards):
    """Return what the shards of a merged file are made with.

    A job that replaces a shard and is killed leaves none, and Snakemake records the new settings for it all the same: it
    would take what was merged from the older shards for current.
    """
    given = {name: value for name, value in rule.params.items() if name not in ("shard", "shards")}
    return {name: value(wildcards) if callable(value) else value for name, value in given.items()}


# A checkpoint in a folder of this machine may be overwritten in place: the digest of its weights is part of each job
# that runs it. Asked for by jobs alone, and read again only when a file has changed.
@functools.cache
def local_weights(model):
    base = folder_weights(MODELS[model].source, whole=False)
    adapter = folder_weights(MODELS[model].adapter, whole=True)
    if base is not None and is_run():
        descriptions.keep_description(MODELS[model])
    return base if adapter is None else [base, adapter]


def growing(amount):
    """Return a resource of a rule, memory or time, of which a retry asks for more."""
    return lambda wildcards, attempt: amount * attempt


def gpu_type(count):
    """Return the type of GPU, in Slurm's words, that the user asks for, and None for a job that needs no GPU."""
    return os.environ.get("PRONOUN_GPU_TYPE") if count else None


def model_memory(wildcards, attempt):
    """Return the memory (MB) of a job that runs a model."""
    return costs.memory_mb(MODELS[wildcards.model], attempt)


wildcard_constraints:
    model=one_of(MODELS),
    system=one_of(SYSTEMS),
    templates="replica|official",
    shard=r"\d+",
    shards=r"\d+",
