"""The conventions of rules: one name finds the rule, its script, its log, benchmark and output.

The rules are those of Snakemake itself, after all rules files were read.
"""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from scripts.core.provenance import closure

ROOT = Path(__file__).parents[1]
# A separate process, because Snakemake changes the process that reads a workflow.
READ = """
import json, sys
from pathlib import Path
from snakemake.io import is_flagged
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, keep_logger=False)) as api:
    workflow = api.workflow(
        resource_settings=ResourceSettings(cores=1, nodes=1),
        config_settings=ConfigSettings(configfiles=[Path(path) for path in sys.argv[2:]]),
        snakefile=Path(sys.argv[1]) / "Snakefile",
    )._workflow
    studies = workflow.globals["STUDIES"]
    json.dump({
        "studies": {
            name: {"figures": study.figures, "tables": study.tables} for name, study in studies.items()
        },
        "rules": {
            rule.name: {
                "script": rule.script and str(rule.script),
                "log": [str(path) for path in rule.log],
                "benchmark": rule.benchmark and str(rule.benchmark),
                "output": [str(path) for path in rule.output],
                "arguments": [
                    name for given in (rule.input, rule.output, rule.params)
                    for name, _ in given.items() if not name.startswith("_")
                ],
                # Names that depend on wildcards.
                "more": any(is_flagged(path, "unpack") for path in rule.input),
                "conda": bool(rule.conda_env),
                "code": dict(rule.params.items()).get("_code"),
                "local": rule.name in workflow._localrules,
                "group": rule._group,
                "gpu": "gpu" in rule.resources,
            }
            for rule in workflow.rules
        },
    }, sys.stdout)
"""
ORDER = [
    "name", "input", "output", "log", "benchmark", "wildcard_constraints", "priority", "group", "conda", "threads",
    "resources", "params", "localrule", "script",
]  # fmt: skip
# Rules that run a script with another name.
OTHER_SCRIPTS = {
    "fetch_encoder": "fetch_model",
    "fetch_system": "fetch_model",
}
# Separate jobs on a cluster, though they ask for no GPU.
ALONE = {"coreference_augmented", "coreference_corpus", "coreference_names", "crate", "train_coreference"}
RULES_FILES = [ROOT / "Snakefile", *sorted((ROOT / "rules").glob("*.smk"))]
SCRIPTS = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "scripts").rglob("*.py"))}


def read(overlay, text):
    """Return what Snakemake knows of the workflow under an overlay."""
    overlay.write_text(text, encoding="utf-8")
    command = [sys.executable, "-c", READ, str(ROOT), str(overlay)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def workflow(tmp_path_factory):
    # Chains of thought, which the default run has not, have scripts of their own.
    return read(
        tmp_path_factory.mktemp("overlay") / "more.yaml",
        "models: [smollm2-135m-instruct, minilm-l6-mlm, opt-125m]\n"
        "ruff: {prompting: {chain_of_thought: {models: [smollm2-135m-instruct]}}}\n",
    )


@pytest.fixture(scope="module")
def scripted(workflow):
    return {name: rule for name, rule in workflow["rules"].items() if rule["script"]}


def functions(script):
    """Return the arguments of each function of a module that rules run; a second name of one counts as well."""
    tree = ast.parse(SCRIPTS[(ROOT / "rules" / script).resolve()])
    named = {node.name: node.args for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.value, "id", None) in named:
            named |= {target.id: named[node.value.id] for target in node.targets}
    return named


def test_names_of_a_rule_its_script_arguments_log_and_benchmark_agree(scripted):
    assert len(scripted) > 90
    for name, rule in scripted.items():
        assert rule["output"] and rule["log"] and rule["conda"], name
        folder, stem = Path(rule["script"]).parent.name, Path(rule["script"]).stem
        known, own = functions(rule["script"]), name.removeprefix(f"{folder}_")
        if "main" in known:
            assert stem == OTHER_SCRIPTS.get(name, name) or f"{folder}_{stem}" == name, name
        function = known["main" if "main" in known else own]
        accepted = {argument.arg for argument in function.kwonlyargs}
        pairs = zip(function.kwonlyargs, function.kw_defaults, strict=True)
        needed = {argument.arg for argument, default in pairs if default is None} - {"threads"}
        assert set(rule["arguments"]) <= accepted and (rule["more"] or needed <= set(rule["arguments"])), name
        for path in rule["log"]:
            assert path.startswith((f"results/logs/{name}/", f"results/logs/{name}.")), name
        assert not rule["benchmark"] or rule["benchmark"].startswith(f"results/benchmarks/{name}/"), name


def test_figures_and_tables_are_made_by_rules_of_their_study(workflow):
    """A declared figure is the output of a rule that ``grep -rn <study>_figures rules/`` finds."""
    outputs = {path: name for name, rule in workflow["rules"].items() for path in rule["output"]}
    patterns = {re.compile(re.sub(r"\\{\w+.*?\\}", ".+", re.escape(path))): name for path, name in outputs.items()}
    for study, kinds in workflow["studies"].items():
        for kind, stems in kinds.items():
            assert stems, study
            for stem in stems:
                assert stem.startswith(f"results/{study}/{kind}/"), stem
                made = {name for pattern, name in patterns.items() if pattern.fullmatch(f"{stem}.csv")}
                assert made and all(name.startswith(f"{study}_") for name in made), stem


def test_rules_carry_the_digests_of_their_code(scripted):
    for name, rule in scripted.items():
        script = rule["script"].removeprefix("../")
        assert script in rule["code"] and rule["code"] == closure.digest_modules(script, ROOT), name


def test_every_script_of_a_study_has_its_rule(workflow, scripted):
    used = {rule["script"] for rule in scripted.values()}
    for path, text in SCRIPTS.items():
        study, script = path.parent.name, f"../{path.relative_to(ROOT).as_posix()}"
        if study not in workflow["studies"] or not ("run_named()" in text or "run(main)" in text):
            continue
        assert script in used, script
        if "main" not in (known := functions(script)):
            # What a rule runs takes arguments by name alone.
            run = {name for name, given in known.items() if given.kwonlyargs and not (given.args or given.posonlyargs)}
            assert {f"{study}_{name}" for name in run} <= workflow["rules"].keys()


def test_small_rules_travel_in_two_groups_and_heavy_ones_alone(scripted):
    for name, rule in scripted.items():
        if rule["local"] or name in ALONE:
            assert rule["group"] is None, name
        elif rule["gpu"]:
            assert rule["group"] in (None, "distributions_{model}"), name
        else:
            assert rule["group"] in ("instances", "analyses"), name


def test_directives_are_in_order_and_repeat_no_default():
    defaults = yaml.safe_load((ROOT / "slurm/profile.yaml").read_text(encoding="utf-8"))["default-resources"]
    repeated = [*(f"{key}=growing({defaults[key].split()[0]})," for key in ("mem_mb", "runtime"))]
    pattern = re.compile(r"^( *)rule ?(\w*):\n((?:\1    .*\n|\n)+)", flags=re.MULTILINE)
    rules = [match.groups() for path in RULES_FILES for match in pattern.finditer(path.read_text(encoding="utf-8"))]
    assert len(rules) > 100
    for indent, name, body in rules:
        directives = re.findall(rf"^ {{{len(indent) + 4}}}(\w+):", body, flags=re.MULTILINE)
        known = [directive for directive in directives if directive in ORDER]
        assert known == sorted(known, key=ORDER.index), name
        assert not [default for default in ("threads: 1\n", "_code=", *repeated) if default in body], name
        # A retry on a cluster asks for more.
        assert not re.search(r"^ +(mem_mb|runtime)=[0-9A-Z]", body, flags=re.MULTILINE), f"{name}: write growing(...)"


def test_shared_files_name_no_study(workflow):
    studies = re.compile(r"\b(" + "|".join(workflow["studies"]) + r")(?=[_./\"'\s{}])", flags=re.IGNORECASE)
    shared = [path for path in RULES_FILES[1:] if not path.name.startswith(tuple(workflow["studies"]))]
    assert len(shared) >= 12
    shared += [ROOT / "paper/main.tex.j2", ROOT / "config/schemas/config.schema.yaml"]
    named = {
        path: studies.findall(re.sub(r"#.*", "", path.read_text(encoding="utf-8")))
        for path in [ROOT / "Snakefile", *shared]
    }
    assert {path: found for path, found in named.items() if found} == {ROOT / "Snakefile": list(workflow["studies"])}


def test_snakemake_is_not_patched_and_its_insides_are_not_used():
    """No attribute of another module or object that is private, and none that is replaced."""
    for path, text in SCRIPTS.items():
        tree = ast.parse(text)
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = {
            alias.asname or alias.name.partition(".")[0]
            for node in imports if isinstance(node, ast.Import) for alias in node.names
        }  # fmt: skip
        uses_snakemake = any("snakemake" in ast.unparse(node) for node in imports)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                owner = ast.unparse(node.value)
                name = f"{path.relative_to(ROOT)}: {owner}.{node.attr}"
                assert not (uses_snakemake and re.match("_[a-z]", node.attr) and owner not in ("self", "cls")), name
                replaced = isinstance(node.ctx, ast.Store)
                assert not (replaced and (owner in modules - {"sys"} or node.attr == "__class__")), name
    for path in RULES_FILES:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(workflow|snakemake|rule|small)(\.\w+)*\._|snakemake(\.\w+)+ = ", text), path


SHARED_CODE = (
    "core/provenance/audit", "core/workflow/preflight", "core/paper/sections", "core/models/costs",
    "core/models/registry", "explorer/outputs", "explorer/page_data", "core/provenance/origins",
    "core/provenance/trace", "core/workflow/studies", "explorer/explorer", "planning/plan", "paper/paper_source",
)  # fmt: skip


def test_shared_code_names_no_study(workflow):
    """In its code, that is; docstrings may give examples."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    for path in SHARED_CODE:
        tree = ast.parse(SCRIPTS[ROOT / f"scripts/{path}.py"])
        docstrings = {
            node.body[0].value for node in ast.walk(tree)
            if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
        }  # fmt: skip
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
                assert not [study for study in workflow["studies"] if study in node.value], (path, node.value)


def test_every_study_has_its_files(workflow):
    for study in workflow["studies"]:
        for place in (
            f"rules/{study}.smk", f"scripts/{study}", f"templates/{study}", f"paper/sections/{study}.tex.j2",
            f"config/schemas/studies/{study}.schema.yaml",
        ):  # fmt: skip
            assert (ROOT / place).exists(), place


def test_a_run_of_some_studies_has_the_rules_of_no_other(tmp_path):
    some = read(tmp_path / "some.yaml", "studies: [underspecification, counter_gap]\n")
    # In the order of the paper, whatever the order of the configuration.
    assert list(some["studies"]) == ["counter_gap", "underspecification"]
    assert not [name for name in some["rules"] if name.startswith("ruff")]


def test_scripts_never_read_the_global_config():
    may = (
        "__main__.py", "cards.py", "compare.py", "config.py", "entries.py", "registry.py", "runs.py",
        "trained_systems.py",
    )  # fmt: skip
    for path, text in SCRIPTS.items():
        assert "snakemake.config" not in text, path
        assert "load_yaml(" not in text or path.name in may, path


OVERWRITE = """
from pathlib import Path
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings
import sys

with SnakemakeApi(OutputSettings(quiet={Quietness.ALL}, keep_logger=False)) as api:
    digest = api.workflow(
        resource_settings=ResourceSettings(cores=1), config_settings=ConfigSettings(configfiles=[Path("mine.yaml")]),
        snakefile=Path(sys.argv[1]) / "Snakefile",
    )._workflow.globals["local_weights"]
    last = digest("mine")
    for part in ("base/model.safetensors", "adapter/adapter_model.safetensors"):
        Path(part).write_bytes(b"other")
        digest.cache_clear()
        assert digest("mine") != last, part
        last = digest("mine")
"""


def test_weights_of_a_model_are_those_of_its_folder_and_of_its_adapter(tmp_path):
    for name in ("base/model.safetensors", "adapter/adapter_model.safetensors", "adapter/adapter_config.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"{}")
    entry = {"label": "Mine", "licence": "MIT", "source": {"path": "base"}, "adapter": {"path": "adapter"}}
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": {"mine": entry}}), encoding="utf-8")
    (tmp_path / "mine.yaml").write_text("registry: models.yaml\n", encoding="utf-8")
    command = [sys.executable, "-c", OVERWRITE, str(ROOT)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
